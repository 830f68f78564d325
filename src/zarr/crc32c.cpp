// SPDX-License-Identifier: BSD-3-Clause
#include "zarr/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace hocket::zarr {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1U) != 0 ? (value >> 1U) ^ 0x82F63B78U : value >> 1U;
        table[i] = value;
    }
    return table;
}

// Eight bytes an instruction, then one.
#if defined(__x86_64__)
bool has_instruction() {
    return __builtin_cpu_supports("sse4.2") != 0;
}
__attribute__((target("sse4.2"))) std::uint32_t next(std::uint32_t value, std::uint64_t word) {
    return static_cast<std::uint32_t>(_mm_crc32_u64(value, word));
}
__attribute__((target("sse4.2"))) std::uint32_t next(std::uint32_t value, std::byte byte) {
    return _mm_crc32_u8(value, static_cast<unsigned char>(byte));
}
#define HOCKET_CRC32C_TARGET __attribute__((target("sse4.2")))
#elif defined(__aarch64__) && defined(__linux__)
bool has_instruction() {
    return (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}
__attribute__((target("+crc"))) std::uint32_t next(std::uint32_t value, std::uint64_t word) {
    return __crc32cd(value, word);
}
__attribute__((target("+crc"))) std::uint32_t next(std::uint32_t value, std::byte byte) {
    return __crc32cb(value, static_cast<unsigned char>(byte));
}
#define HOCKET_CRC32C_TARGET __attribute__((target("+crc")))
#endif

#ifdef HOCKET_CRC32C_TARGET
HOCKET_CRC32C_TARGET std::uint32_t by_instruction(std::span<const std::byte> data) {
    std::uint32_t value = ~0U;
    for (; data.size() >= sizeof(std::uint64_t); data = data.subspan(sizeof(std::uint64_t))) {
        std::uint64_t word = 0;
        std::memcpy(&word, data.data(), sizeof word);
        value = next(value, word);
    }
    for (const std::byte byte : data) value = next(value, byte);
    return ~value;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> data) {
    static constexpr auto table = make_table();
    std::uint32_t value = ~0U;
    for (const std::byte byte : data)
        value = table[(value ^ static_cast<std::uint32_t>(byte)) & 0xFFU] ^ (value >> 8U);
    return ~value;
}

std::uint32_t crc32c(std::span<const std::byte> data) {
#ifdef HOCKET_CRC32C_TARGET
    static const bool here = has_instruction();
    if (here) return by_instruction(data);
#endif
    return crc32c_by_table(data);
}

}  // namespace hocket::zarr
