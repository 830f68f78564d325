// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/tile_avx512.hpp"

#if defined(__x86_64__)

// g++ 12 warns about the undefined operand that its own intrinsics pass on purpose.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <algorithm>

#define HOCKET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

namespace hocket::kernel::avx512 {
namespace {

/// Rows of one register each, transposed in place: `side` rows of `side` units.
struct Rows4 {
    __m512i row[4];
};

/// A 4 x 4 square of 128-bit lanes.
HOCKET_AVX512 inline Rows4 transpose_lanes(__m512i x, __m512i y, __m512i z, __m512i w) {
    const __m512i even_xy = _mm512_shuffle_i64x2(x, y, 0x88);  // x0 x2 y0 y2
    const __m512i odd_xy = _mm512_shuffle_i64x2(x, y, 0xdd);   // x1 x3 y1 y3
    const __m512i even_zw = _mm512_shuffle_i64x2(z, w, 0x88);
    const __m512i odd_zw = _mm512_shuffle_i64x2(z, w, 0xdd);
    return {
        {_mm512_shuffle_i64x2(even_xy, even_zw, 0x88), _mm512_shuffle_i64x2(odd_xy, odd_zw, 0x88),
         _mm512_shuffle_i64x2(even_xy, even_zw, 0xdd), _mm512_shuffle_i64x2(odd_xy, odd_zw, 0xdd)}};
}

/// The first `count` units of a row, as a mask of 4-byte words.
inline __mmask16 mask_of(std::int64_t count, std::int64_t unit) {
    return static_cast<__mmask16>((1u << std::min<std::int64_t>(count * unit / 4, 16)) - 1);
}

/// Loads up to `side` rows and stores up to `side` rows, with masks, for squares at the rim of a
/// tile.
template <std::int64_t unit, class From, class To>
struct Rim {
    const std::byte* source;
    std::byte* destination;
    From from;
    To to;
    std::int64_t j, i;  // its first row on both sides
    std::int64_t ni, nj;

    HOCKET_AVX512 __m512i load(std::int64_t k) const {
        if (k >= nj) return _mm512_setzero_si512();
        return _mm512_maskz_loadu_epi32(mask_of(ni, unit), source + from[j + k]);
    }
    HOCKET_AVX512 void store(std::int64_t k, __m512i row) const {
        if (k < ni) _mm512_mask_storeu_epi32(destination + to[i + k], mask_of(nj, unit), row);
    }
};

/// Without masks, for squares inside.
template <std::int64_t unit, class From, class To>
struct Whole {
    const std::byte* source;
    std::byte* destination;
    From from;
    To to;
    std::int64_t j, i;

    HOCKET_AVX512 __m512i load(std::int64_t k) const {
        return _mm512_loadu_si512(source + from[j + k]);
    }
    HOCKET_AVX512 void store(std::int64_t k, __m512i row) const {
        _mm512_storeu_si512(destination + to[i + k], row);
    }
};

template <template <std::int64_t, class, class> class Place, class From, class To>
HOCKET_AVX512 inline void square(const Place<16, From, To>& position) {
    const Rows4 out =
        transpose_lanes(position.load(0), position.load(1), position.load(2), position.load(3));
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) position.store(k, out.row[k]);
}

template <template <std::int64_t, class, class> class Place, class From, class To>
HOCKET_AVX512 inline void square(const Place<8, From, To>& position) {
    __m512i even[4], odd[4];  // columns 2 L and 2 L + 1 in lane L, of two rows each
#pragma GCC unroll 4
    for (int pair = 0; pair < 4; ++pair) {
        const __m512i a = position.load(2 * pair), b = position.load(2 * pair + 1);
        even[pair] = _mm512_unpacklo_epi64(a, b);
        odd[pair] = _mm512_unpackhi_epi64(a, b);
    }
    const Rows4 out_even = transpose_lanes(even[0], even[1], even[2], even[3]);
    const Rows4 out_odd = transpose_lanes(odd[0], odd[1], odd[2], odd[3]);
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
        position.store(2 * k, out_even.row[k]);
        position.store(2 * k + 1, out_odd.row[k]);
    }
}

template <template <std::int64_t, class, class> class Place, class From, class To>
HOCKET_AVX512 inline void square(const Place<4, From, To>& position) {
    __m512i q[16];  // q[4 g + c]: columns 4 L + c in lane L, of rows 4 g to 4 g + 3
#pragma GCC unroll 4
    for (std::int64_t g = 0; g < 4; ++g) {
        const __m512i r0 = position.load(4 * g), r1 = position.load(4 * g + 1);
        const __m512i r2 = position.load(4 * g + 2), r3 = position.load(4 * g + 3);
        const __m512i t0 = _mm512_unpacklo_epi32(r0, r1), t1 = _mm512_unpackhi_epi32(r0, r1);
        const __m512i t2 = _mm512_unpacklo_epi32(r2, r3), t3 = _mm512_unpackhi_epi32(r2, r3);
        q[4 * g] = _mm512_unpacklo_epi64(t0, t2);
        q[4 * g + 1] = _mm512_unpackhi_epi64(t0, t2);
        q[4 * g + 2] = _mm512_unpacklo_epi64(t1, t3);
        q[4 * g + 3] = _mm512_unpackhi_epi64(t1, t3);
    }
#pragma GCC unroll 4
    for (std::int64_t c = 0; c < 4; ++c) {
        const Rows4 out = transpose_lanes(q[c], q[4 + c], q[8 + c], q[12 + c]);
#pragma GCC unroll 4
        for (std::int64_t k = 0; k < 4; ++k) position.store(4 * k + c, out.row[k]);
    }
}

template <std::int64_t unit, class From, class To>
HOCKET_AVX512 void transpose(const std::byte* source, std::byte* destination, std::int64_t ni,
                             std::int64_t nj, const From& from, const To& to, bool lines) {
    constexpr std::int64_t side = 64 / unit;
    // If all rows of the destination begin at the same offset in a cache line, a narrow first
    // column of squares lets the others write whole lines: stores that cross lines take twice as
    // long.
    const auto position = reinterpret_cast<std::uintptr_t>(destination);
    std::int64_t columns = side;
    if (lines && position % 64 != 0 && position % unit == 0)
        columns = static_cast<std::int64_t>(64 - position % 64) / unit;
    // Along the rows of the source, so that hardware prefetchers recognise them.
    for (std::int64_t j = 0; j < nj; j += columns, columns = side) {
        columns = std::min(columns, nj - j);
        for (std::int64_t column = 0; column < ni; column += side) {
            // The last square overlaps columns that are done, and writes the same values again.
            const std::int64_t i = ni < side ? 0 : std::min(column, ni - side);
            const std::byte* const read = source + i * unit;
            std::byte* const written = destination + j * unit;
            if (i + side <= ni && columns == side)
                square(Whole<unit, From, To>{read, written, from, to, j, i});
            else
                square(Rim<unit, From, To>{read, written, from, to, j, i, ni - i, columns});
        }
    }
}

template <std::int64_t unit>
HOCKET_AVX512 void even_tile(const std::byte* source, std::byte* destination, const Tile& tile) {
    transpose<unit>(source, destination, tile.ni, tile.nj, EvenRows{tile.source_j},
                    EvenRows{tile.destination_i}, tile.destination_i % 64 == 0);
}

template <std::int64_t unit>
HOCKET_AVX512 void listed_tile(const std::byte* source, std::byte* destination,
                               const ListedTile& tile) {
    transpose<unit>(source, destination, tile.ni, tile.nj, tile.source_rows, tile.destination_rows,
                    tile.lines);
}

}  // namespace

TileKernels kernels_for(std::int64_t unit) {
    switch (unit) {
        case 4:
            return {even_tile<4>, listed_tile<4>};
        case 8:
            return {even_tile<8>, listed_tile<8>};
        case 16:
            return {even_tile<16>, listed_tile<16>};
        default:
            return {};
    }
}

}  // namespace hocket::kernel::avx512

#endif
