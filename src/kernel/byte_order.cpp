// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/byte_order.hpp"

#include <algorithm>
#include <cstring>

namespace hocket::kernel {
namespace {

// With the size known, the compiler reverses several numbers at once.
template <class Number, class Reverse>
void reverse_all(std::byte* data, std::int64_t bytes, Reverse reversed) {
    for (std::int64_t at = 0; at < bytes; at += std::int64_t{sizeof(Number)}) {
        Number number;
        std::memcpy(&number, data + at, sizeof number);
        number = reversed(number);
        std::memcpy(data + at, &number, sizeof number);
    }
}

}  // namespace

void reverse_numbers(std::byte* data, std::int64_t bytes, std::int64_t number_bytes) {
    switch (number_bytes) {
        case 1:
            return;
        case 2:
            return reverse_all<std::uint16_t>(
                data, bytes, [](std::uint16_t number) { return __builtin_bswap16(number); });
        case 4:
            return reverse_all<std::uint32_t>(
                data, bytes, [](std::uint32_t number) { return __builtin_bswap32(number); });
        case 8:
            return reverse_all<std::uint64_t>(
                data, bytes, [](std::uint64_t number) { return __builtin_bswap64(number); });
        default:
            for (std::int64_t at = 0; at < bytes; at += number_bytes)
                std::reverse(data + at, data + at + number_bytes);
    }
}

}  // namespace hocket::kernel
