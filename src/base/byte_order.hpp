// SPDX-License-Identifier: BSD-3-Clause
// Integers in messages, which machines of either byte order read.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace hocket::base {

/// The value whose bytes in memory are those of `value` on a little-endian machine, and back.
template <class Integer>
constexpr Integer little_endian(Integer value) {
    if constexpr (std::endian::native == std::endian::big) {
        auto bytes = std::bit_cast<std::array<std::byte, sizeof value>>(value);
        std::reverse(bytes.begin(), bytes.end());
        value = std::bit_cast<Integer>(bytes);
    }
    return value;
}

}  // namespace hocket::base
