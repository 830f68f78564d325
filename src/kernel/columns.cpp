// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/columns.hpp"

namespace hocket::kernel {
namespace {

template <int together, class T>
void add_rows(T* sums, const T* rows, std::int64_t columns) {
    for (std::int64_t c = 0; c < columns; ++c) {
        T sum = sums[c];
#pragma GCC unroll 8
        for (int row = 0; row < together; ++row)
            sum = static_cast<T>(sum + rows[row * columns + c]);
        sums[c] = sum;
    }
}

template <class T>
void add(void* into, const void* from, std::int64_t rows, std::int64_t columns) {
    constexpr int together = 8;  // rows that are read each time that the sums are
    auto* const sums = static_cast<T*>(into);
    const auto* const matrix = static_cast<const T*>(from);
    std::int64_t row = 0;
    for (; row + together <= rows; row += together)
        add_rows<together>(sums, matrix + row * columns, columns);
    for (; row < rows; ++row) add_rows<1>(sums, matrix + row * columns, columns);
}

}  // namespace

void add_columns(void* sums, const void* matrix, std::int64_t rows, std::int64_t columns,
                 std::int64_t itemsize) {
    switch (itemsize) {
        case 1:
            return add<std::uint8_t>(sums, matrix, rows, columns);
        case 2:
            return add<std::uint16_t>(sums, matrix, rows, columns);
        case 4:
            return add<std::uint32_t>(sums, matrix, rows, columns);
        default:
            return add<std::uint64_t>(sums, matrix, rows, columns);
    }
}

}  // namespace hocket::kernel
