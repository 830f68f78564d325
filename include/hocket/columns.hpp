// SPDX-License-Identifier: BSD-3-Clause
// Sums of columns of integers.
#pragma once

#include <cstdint>

namespace hocket::kernel {

/// Adds column c of a dense row-major matrix to sums[c], for each c. Elements and sums are integers
/// of `itemsize` bytes, 1, 2, 4 or 8, which wrap around. Reads several rows at a time, so that it
/// reads and writes the sums less often than the matrix.
void add_columns(void* sums, const void* matrix, std::int64_t rows, std::int64_t columns,
                 std::int64_t itemsize);

}  // namespace hocket::kernel
