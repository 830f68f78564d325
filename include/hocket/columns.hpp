// SPDX-License-Identifier: BSD-3-Clause
// Reductions of numbers in this process's memory: of each column, and of truths.
#pragma once

#include <cstdint>

namespace hocket::kernel {

enum class Fold { sum, least, greatest };
/// Signed and unsigned integers of 1, 2, 4 or 8 bytes; floating-point numbers of 4 or 8.
enum class NumberKind { integer, natural, real };

/// Rows of numbers at regular distances in bytes, of any sign: as the section of a matrix.
struct Rows {
    const void* first = nullptr;
    std::int64_t rows = 0, columns = 0;
    std::int64_t row_stride = 0, column_stride = 0;
};

/// Combines column c with results[c], for each c; sums wrap around, and NaN stays. Reads several
/// rows at a time, so that it reads and writes the results less often than the rows.
/// Numbers are aligned. Sums are of integers.
void fold_columns(Fold fold, NumberKind kind, std::int64_t itemsize, void* results,
                  const Rows& rows);

/// Whether all, or any, of these bytes are not 0. Stops soon after it knows.
bool all_true(const std::uint8_t* truths, std::int64_t count);
bool any_true(const std::uint8_t* truths, std::int64_t count);

}  // namespace hocket::kernel
