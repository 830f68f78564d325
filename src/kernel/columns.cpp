// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/columns.hpp"

#include <algorithm>

namespace hocket::kernel {
namespace {

template <int together>
void add_rows(const std::uint64_t* rows, std::int64_t columns, std::uint64_t* sums) {
    for (std::int64_t c = 0; c < columns; ++c) {
        std::uint64_t sum = sums[c];
#pragma GCC unroll 8
        for (int row = 0; row < together; ++row) sum += rows[row * columns + c];
        sums[c] = sum;
    }
}

}  // namespace

void sum_columns(const std::uint64_t* matrix, std::int64_t rows, std::int64_t columns,
                 std::uint64_t* sums) {
    constexpr int together = 8;  // rows that are read each time that the sums are
    std::fill_n(sums, columns, 0);
    std::int64_t row = 0;
    for (; row + together <= rows; row += together)
        add_rows<together>(matrix + row * columns, columns, sums);
    for (; row < rows; ++row) add_rows<1>(matrix + row * columns, columns, sums);
}

}  // namespace hocket::kernel
