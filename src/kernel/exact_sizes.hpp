// SPDX-License-Identifier: BSD-3-Clause
// SIMD vectors of float64, and the sizes of the numbers of a block: they decide how many parts an
// exact sum of the block needs. Compiled into each caller, for the caller's processor.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernel/exact_block.hpp"

namespace hocket::exact {

// Vectors of the compiler's, of as many bytes as the target's registers have: compilers keep longer
// ones in memory.
template <int bytes>
struct Simd {
    using Vector __attribute__((vector_size(bytes))) = double;
    using Bits __attribute__((vector_size(bytes))) = long long;
    using Unsigned __attribute__((vector_size(bytes))) = unsigned long long;
    using Words __attribute__((vector_size(bytes))) = std::int32_t;
    using Places __attribute__((vector_size(bytes))) = std::uint32_t;
    using Floats __attribute__((vector_size(bytes / 2))) = float;
};
template <class Vector>
using Bits = typename Simd<sizeof(Vector)>::Bits;
template <class Vector>
inline constexpr int width = sizeof(Vector) / sizeof(double);

#define HOCKET_INLINE inline __attribute__((always_inline))

inline constexpr int spare = 11;          // bits of a sum above the largest number
inline constexpr int taken = 53 - spare;  // bits of all numbers that a sum takes
inline constexpr int most_splits = 3;
inline constexpr int error_below = 53;  // bits of a product, below which its error begins
inline constexpr int most_sums = 6;     // of a block: one more than splits, or twice that
inline constexpr long long no_sign = std::numeric_limits<long long>::max(), sign = ~no_sign;
static_assert(block_length <= 1 << spare);
inline constexpr int least_unit = -1000;  // of products whose errors do not underflow
// Of the sum of a column, whose size comes from a few rows: others may be eight times as large.
inline constexpr int column_spare = 12, column_taken = 53 - column_spare;
static_assert(16 * deepest <= 1 << column_spare);

template <class Vector>
HOCKET_INLINE void load(Vector& to, const double* from) {
    std::memcpy(&to, from, sizeof to);
}
template <class Vector>
HOCKET_INLINE void load(Vector& to, const float* from) {
    typename Simd<sizeof(Vector)>::Floats some;
    std::memcpy(&some, from, sizeof some);
    to = __builtin_convertvector(some, Vector);
}
#if defined(__x86_64__)
// The compiler would convert halves, by way of memory.
__attribute__((target("avx2"))) inline void load(Simd<32>::Vector& to, const float* from) {
    to = (Simd<32>::Vector)_mm256_cvtps_pd(_mm_loadu_ps(from));
}
#endif

template <class Vector>
HOCKET_INLINE void raise(Vector& most, const Vector& x) {
    const Vector size = (Vector)((Bits<Vector>)x & no_sign);
    most = size > most ? size : most;
}
template <class Vector>
HOCKET_INLINE void lower(Vector& least, const Vector& x) {
    const Vector size = (Vector)((Bits<Vector>)x & no_sign);
    least = size < least ? size : least;
}

// The sizes of a block's numbers.
struct Extent {
    double top = 0;         // the largest, except NaN
    bool zero = true;       // all are
    int unit = 0;           // 2^unit divides all of them
    bool any_zero = false;  // of products with errors
    int splits_for(int exponent) const {
        // `splits` parts of `taken` bits each, and the rest: so many bits below 2^exponent. The
        // leading sum takes numbers of twice the size, too.
        for (int splits = 0; splits <= most_splits; ++splits)
            if (exponent - unit <= taken * (splits + 1) - (splits == 0 ? 1 : 0)) return splits;
        return most_splits + 1;
    }
};

// Adds x to a sum, and leaves in x what the sum does not take. `more`: sum + x.
template <class Vector>
HOCKET_INLINE void take(Vector& sum, Vector& x, const Vector& more) {
    x -= more - sum;
    sum = more;
}
template <class Vector>
HOCKET_INLINE void take(Vector& sum, Vector& x) {
    take(sum, x, sum + x);
}

// Collects an extent. A negative number less one unit in the last place makes zero the largest.
template <class Vector>
struct Extremes {
    Vector most = {};
    Bits<Vector> least = Bits<Vector>{} + no_sign;
};
template <class Vector, int wide>
HOCKET_INLINE void widen(Extremes<Vector>& extremes, Vector (&x)[wide]) {
    Bits<Vector> least[wide];
#pragma GCC unroll 4
    for (int v = 0; v < wide; ++v) {
        // Of zero, it becomes the largest: only unsigned numbers go round.
        const auto number = (typename Simd<sizeof(Vector)>::Unsigned)x[v];
        least[v] = (Bits<Vector>)((number | (1ULL << 63)) - 1);
        x[v] = (Vector)((Bits<Vector>)x[v] & no_sign);
    }
    // Pairs first: one dependent operation for all.
#pragma GCC unroll 4
    for (int step = 1; step < wide; step *= 2)
#pragma GCC unroll 4
        for (int v = 0; v + step < wide; v += 2 * step) {
            x[v] = x[v] > x[v + step] ? x[v] : x[v + step];
            least[v] = least[v] < least[v + step] ? least[v] : least[v + step];
        }
    extremes.most = x[0] > extremes.most ? x[0] : extremes.most;
    extremes.least = least[0] < extremes.least ? least[0] : extremes.least;
}
// Of numbers of so many bits.
template <class Vector>
HOCKET_INLINE Extent extent_of(const Extremes<Vector>& extremes, int bits) {
    Extent extent;
    long long least = no_sign;
    for (int lane = 0; lane < width<Vector>; ++lane) {
        if (extremes.most[lane] > extent.top) extent.top = extremes.most[lane];
        if (extremes.least[lane] < least) least = extremes.least[lane];
    }
    extent.zero = least == no_sign;
    if (!extent.zero)
        extent.unit = std::max(static_cast<int>(((least + 1) & no_sign) >> 52), 1) - 1022 - bits;
    return extent;
}

template <class Vector, class Terms>
HOCKET_INLINE Extent measure(const Terms& terms, std::int64_t count) {
    constexpr std::int64_t wide = 4;
    Extremes<Vector> extremes;
    for (std::int64_t k = 0; k < count; k += wide * width<Vector>) {
        Vector x[wide], error;
        for (std::int64_t v = 0; v < wide; ++v) terms.term(k + v * width<Vector>, x[v], error);
        widen(extremes, x);
    }
    return extent_of(extremes, Terms::bits);
}

}  // namespace hocket::exact
