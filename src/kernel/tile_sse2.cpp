// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/tile_sse2.hpp"

#if defined(__x86_64__)

#include <emmintrin.h>

#include "kernel/tile_squares.hpp"

namespace hocket::kernel::sse2 {
namespace {

template <std::int64_t unit>
__m128i interleave_low(__m128i a, __m128i b) {
    if constexpr (unit == 1) return _mm_unpacklo_epi8(a, b);
    if constexpr (unit == 2) return _mm_unpacklo_epi16(a, b);
    if constexpr (unit == 4) return _mm_unpacklo_epi32(a, b);
}

template <std::int64_t unit>
__m128i interleave_high(__m128i a, __m128i b) {
    if constexpr (unit == 1) return _mm_unpackhi_epi8(a, b);
    if constexpr (unit == 2) return _mm_unpackhi_epi16(a, b);
    if constexpr (unit == 4) return _mm_unpackhi_epi32(a, b);
}

// Interleaving the upper half of the rows with the lower one rotates the bits of every element's
// index (row bits above column bits) by one; log2(side) times swaps rows and columns.
template <std::int64_t unit, int side>
void square(const std::byte* source, std::int64_t source_j, std::byte* destination,
            std::int64_t destination_i) {
    __m128i rows[side], mixed[side];
#pragma GCC unroll 16
    for (int k = 0; k < side; ++k)
        rows[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + k * source_j));
#pragma GCC unroll 4
    for (int stage = side; stage > 1; stage /= 2) {
#pragma GCC unroll 16
        for (int k = 0; k < side / 2; ++k) {
            mixed[2 * k] = interleave_low<unit>(rows[k], rows[k + side / 2]);
            mixed[2 * k + 1] = interleave_high<unit>(rows[k], rows[k + side / 2]);
        }
#pragma GCC unroll 16
        for (int k = 0; k < side; ++k) rows[k] = mixed[k];
    }
#pragma GCC unroll 16
    for (int k = 0; k < side; ++k)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(destination + k * destination_i), rows[k]);
}

}  // namespace

void transpose_1(const std::byte* source, std::byte* destination, const Tile& tile) {
    transpose_by_squares<1, 16, square<1, 16>>(source, destination, tile);
}

void transpose_2(const std::byte* source, std::byte* destination, const Tile& tile) {
    transpose_by_squares<2, 8, square<2, 8>>(source, destination, tile);
}

void transpose_4(const std::byte* source, std::byte* destination, const Tile& tile) {
    transpose_by_squares<4, 4, square<4, 4>>(source, destination, tile);
}

}  // namespace hocket::kernel::sse2

#endif
