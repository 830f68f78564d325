// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C (Castagnoli; RFC 3720, appendix B.4): the checksum of shard indices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hocket::zarr {

namespace detail {
constexpr std::array<std::uint32_t, 256> crc32c_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1U) != 0 ? (value >> 1U) ^ 0x82F63B78U : value >> 1U;
        table[i] = value;
    }
    return table;
}
}  // namespace detail

inline std::uint32_t crc32c(std::span<const std::byte> data) {
    static constexpr auto table = detail::crc32c_table();
    std::uint32_t value = ~0U;
    for (const std::byte byte : data)
        value = table[(value ^ static_cast<std::uint32_t>(byte)) & 0xFFU] ^ (value >> 8U);
    return ~value;
}

}  // namespace hocket::zarr
