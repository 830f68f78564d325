// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/narrow_tiles.hpp"

#if defined(__x86_64__)

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12 warns in its own intrinsics
#endif
#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "kernel/cpu.hpp"

namespace hocket::kernel {
namespace {

constexpr int half = 16;  // bytes: instructions shuffle within halves of a vector

/// For each of `few` vectors to write, the bytes to take from each of `few` read ones. `split`: the
/// source has the columns, and the destination the long rows; else the reverse.
template <int unit, int few, bool split>
constexpr auto shuffles() {
    std::array<std::array<std::array<char, half>, few>, few> out{};
    for (int to = 0; to < few; ++to)
        for (int from = 0; from < few; ++from)
            for (int byte = 0; byte < half; ++byte) {
                // The byte's place in the columns, as one run, and its row and column there.
                const int place =
                    split ? (byte / unit * few + to) * unit + byte % unit : to * half + byte;
                const int row = place / unit % few, column = place / unit / few;
                const int vector = split ? place / half : row;
                const int index = split ? place % half : column * unit + place % unit;
                out[static_cast<std::size_t>(to)][static_cast<std::size_t>(from)]
                   [static_cast<std::size_t>(byte)] =
                       static_cast<char>(vector == from ? index : -1);  // -1 gives a byte of 0
            }
    return out;
}

template <int unit, int few, bool split>
__attribute__((target("avx2"))) void narrow_tile(const std::byte* source, std::byte* destination,
                                                 const Tile& tile) {
    static constexpr auto indices = shuffles<unit, few, split>();
    constexpr std::int64_t columns = half / unit;  // in a half of a vector
    constexpr std::int64_t part = half;
    const std::int64_t all = split ? tile.nj : tile.ni;
    const std::int64_t row = split ? tile.destination_i : tile.source_j;
    std::int64_t at = 0;
    for (; at + 2 * columns <= all; at += 2 * columns) {
        const std::int64_t run = at * few * unit, along = at * unit;
        __m256i read[few];
#pragma GCC unroll 16
        for (int k = 0; k < few; ++k) {
            if constexpr (split) {
                const std::byte* const from = source + run + k * part;
                read[k] = _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(from + few * part),
                                              reinterpret_cast<const __m128i*>(from));
            } else {
                read[k] =
                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + along + k * row));
            }
        }
        for (int k = 0; k < few; ++k) {
            const auto& of = indices[static_cast<std::size_t>(k)];
            __m256i written = _mm256_setzero_si256();
#pragma GCC unroll 16
            for (std::size_t from = 0; from < few; ++from)
                written = _mm256_or_si256(
                    written,
                    _mm256_shuffle_epi8(read[from],
                                        _mm256_broadcastsi128_si256(_mm_loadu_si128(
                                            reinterpret_cast<const __m128i*>(of[from].data())))));
            if constexpr (split) {
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(destination + along + k * row),
                                    written);
            } else {
                std::byte* const to = destination + run + k * part;
                _mm256_storeu2_m128i(reinterpret_cast<__m128i*>(to + few * part),
                                     reinterpret_cast<__m128i*>(to), written);
            }
        }
    }
    for (; at < all; ++at)
        for (std::int64_t k = 0; k < few; ++k) {
            const std::int64_t run = (at * few + k) * unit, along = at * unit + k * row;
            std::memcpy(destination + (split ? along : run), source + (split ? run : along), unit);
        }
}

/// From 2 on, for tiles narrower than the squares of half a vector, or with units of 8 bytes, than
/// those of a whole one.
template <int unit, bool split, std::size_t... few>
constexpr auto narrow_kernels(std::index_sequence<few...>) {
    return std::array<TileKernel, sizeof...(few)>{narrow_tile<unit, few + 2, split>...};
}

template <int unit>
TileKernel narrow_kernel(std::int64_t few, bool split) {
    constexpr auto counts = std::make_index_sequence < unit == 8 ? 2 : half / unit - 2 > ();
    static constexpr auto splits = narrow_kernels<unit, true>(counts);
    static constexpr auto joins = narrow_kernels<unit, false>(counts);
    const auto index = static_cast<std::size_t>(few - 2);
    if (index >= splits.size()) return nullptr;
    return split ? splits[index] : joins[index];
}

}  // namespace

TileKernel select_narrow_kernel(const Tile& tile) {
    const bool joins = tile.destination_i == tile.nj * tile.unit;
    const bool split = tile.source_j == tile.ni * tile.unit && (tile.ni <= tile.nj || !joins);
    if (tile.source_i != tile.unit || tile.destination_j != tile.unit || !(split || joins) ||
        cpu_level() < CpuLevel::avx2)
        return nullptr;
    const std::int64_t few = split ? tile.ni : tile.nj;
    switch (tile.unit) {
        case 1:
            return narrow_kernel<1>(few, split);
        case 2:
            return narrow_kernel<2>(few, split);
        case 4:
            return narrow_kernel<4>(few, split);
        case 8:
            return narrow_kernel<8>(few, split);
        default:
            return nullptr;
    }
}

}  // namespace hocket::kernel

#else

namespace hocket::kernel {

TileKernel select_narrow_kernel(const Tile&) {
    return nullptr;
}

}  // namespace hocket::kernel

#endif
