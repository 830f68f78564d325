// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/tile_avx2.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include "kernel/tile_squares.hpp"

namespace hocket::kernel::avx2 {
namespace {

__attribute__((target("avx2"))) __m256i load(const std::byte* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

__attribute__((target("avx2"))) void store(std::byte* to, __m256i row) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), row);
}

__attribute__((target("avx2"))) void square_8(const std::byte* source, std::int64_t source_j,
                                              std::byte* destination, std::int64_t destination_i) {
    const __m256i r0 = load(source), r1 = load(source + source_j);
    const __m256i r2 = load(source + 2 * source_j), r3 = load(source + 3 * source_j);
    const __m256i t0 = _mm256_unpacklo_epi64(r0, r1), t1 = _mm256_unpackhi_epi64(r0, r1);
    const __m256i t2 = _mm256_unpacklo_epi64(r2, r3), t3 = _mm256_unpackhi_epi64(r2, r3);
    store(destination, _mm256_permute2x128_si256(t0, t2, 0x20));
    store(destination + destination_i, _mm256_permute2x128_si256(t1, t3, 0x20));
    store(destination + 2 * destination_i, _mm256_permute2x128_si256(t0, t2, 0x31));
    store(destination + 3 * destination_i, _mm256_permute2x128_si256(t1, t3, 0x31));
}

__attribute__((target("avx2"))) void square_4(const std::byte* source, std::int64_t source_j,
                                              std::byte* destination, std::int64_t destination_i) {
    __m256i q[8];  // q[4 g + c]: rows 4 g to 4 g + 3 of columns c and, in the upper half, 4 + c
#pragma GCC unroll 2
    for (std::int64_t g = 0; g < 2; ++g) {
        const std::byte* rows = source + 4 * g * source_j;
        const __m256i r0 = load(rows), r1 = load(rows + source_j);
        const __m256i r2 = load(rows + 2 * source_j), r3 = load(rows + 3 * source_j);
        const __m256i t0 = _mm256_unpacklo_epi32(r0, r1), t1 = _mm256_unpackhi_epi32(r0, r1);
        const __m256i t2 = _mm256_unpacklo_epi32(r2, r3), t3 = _mm256_unpackhi_epi32(r2, r3);
        q[4 * g] = _mm256_unpacklo_epi64(t0, t2);
        q[4 * g + 1] = _mm256_unpackhi_epi64(t0, t2);
        q[4 * g + 2] = _mm256_unpacklo_epi64(t1, t3);
        q[4 * g + 3] = _mm256_unpackhi_epi64(t1, t3);
    }
#pragma GCC unroll 4
    for (std::int64_t c = 0; c < 4; ++c) {
        store(destination + c * destination_i, _mm256_permute2x128_si256(q[c], q[4 + c], 0x20));
        store(destination + (4 + c) * destination_i,
              _mm256_permute2x128_si256(q[c], q[4 + c], 0x31));
    }
}

}  // namespace

void transpose_4(const std::byte* source, std::byte* destination, const Tile& tile) {
    transpose_by_squares<4, 8, square_4>(source, destination, tile);
}

void transpose_8(const std::byte* source, std::byte* destination, const Tile& tile) {
    transpose_by_squares<8, 4, square_8>(source, destination, tile);
}

}  // namespace hocket::kernel::avx2

#endif
