// SPDX-License-Identifier: BSD-3-Clause
// Sums of columns of integers.
#pragma once

#include <cstdint>

namespace hocket::kernel {

/// Sets sums[c] to the sum of column c of a dense row-major matrix, modulo 2^64. Reads several rows
/// at a time, so that it reads and writes the sums less often than the matrix.
void sum_columns(const std::uint64_t* matrix, std::int64_t rows, std::int64_t columns,
                 std::uint64_t* sums);

}  // namespace hocket::kernel
