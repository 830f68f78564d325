// SPDX-License-Identifier: BSD-3-Clause
// SIMD vectors of float64, and the sizes of the numbers of a block: they decide how many parts an
// exact sum of the block needs. Compiled into each caller, for the caller's processor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernel/exact_block.hpp"

namespace hocket::exact {

// Vectors of the compiler's, which makes of them whatever the target has.
using Vector __attribute__((vector_size(64))) = double;
using Bits __attribute__((vector_size(64))) = long long;
using Sizes __attribute__((vector_size(64))) = unsigned long long;
using Floats __attribute__((vector_size(32))) = float;

#define HOCKET_INLINE inline __attribute__((always_inline))

inline constexpr int spare = 12;          // bits of a sum above the largest number
inline constexpr int taken = 53 - spare;  // bits of all numbers that a sum takes
inline constexpr int most_splits = 3;
inline constexpr long long no_sign = 0x7fffffffffffffffLL;
static_assert(longest_block <= 1 << spare);
inline constexpr int least_unit = -1000;  // of products whose errors do not underflow
// Of the sum of a column, whose size comes from a few rows: others may be eight times as large.
inline constexpr int column_spare = 12;
static_assert(16 * deepest <= 1 << column_spare);

HOCKET_INLINE void load(Vector& to, const double* from) {
    std::memcpy(&to, from, sizeof to);
}
HOCKET_INLINE void load(Vector& to, const float* from) {
    Floats some;
    std::memcpy(&some, from, sizeof some);
    to = __builtin_convertvector(some, Vector);
}

HOCKET_INLINE void raise(Vector& most, const Vector& x) {
    const Vector size = (Vector)((Bits)x & no_sign);
    most = size > most ? size : most;
}
HOCKET_INLINE void lower(Vector& least, const Vector& x) {
    const Vector size = (Vector)((Bits)x & no_sign);
    least = size < least ? size : least;
}

// The sizes of a block's numbers.
struct Extent {
    double top = 0;    // the largest, except NaN
    bool zero = true;  // all are
    int unit = 0;      // 2^unit divides all of them
    int splits_for(int exponent) const {
        // `splits` parts of `taken` bits each, and the rest: so many bits below 2^exponent. The
        // leading sum takes numbers of twice the size, too.
        for (int splits = 0; splits <= most_splits; ++splits)
            if (exponent - unit <= taken * (splits + 1) - (splits == 0 ? 1 : 0)) return splits;
        return most_splits + 1;
    }
};

// Adds x to a sum, and leaves in x what the sum does not take.
HOCKET_INLINE void take(Vector& sum, Vector& x) {
    const Vector more = sum + x;
    x -= more - sum;
    sum = more;
}

// Collects an extent. A number less one unit in the last place makes zero the largest.
struct Extremes {
    Vector most = {};
    Sizes least = ~Sizes{};
};
template <int wide>
HOCKET_INLINE void widen(Extremes& extremes, Vector (&x)[wide]) {
    Sizes least[wide];
#pragma GCC unroll 4
    for (int v = 0; v < wide; ++v) {
        const Bits size = (Bits)x[v] & no_sign;
        x[v] = (Vector)size;
        least[v] = (Sizes)size - 1;
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
HOCKET_INLINE Extent extent_of(const Extremes& extremes, int bits) {
    Extent extent;
    unsigned long long least = ~0ULL;
    for (int lane = 0; lane < 8; ++lane) {
        if (extremes.most[lane] > extent.top) extent.top = extremes.most[lane];
        if (extremes.least[lane] < least) least = extremes.least[lane];
    }
    extent.zero = least == ~0ULL;
    extent.unit = std::max(static_cast<int>((least + 1) >> 52), 1) - 1022 - bits;
    return extent;
}

template <class Terms>
HOCKET_INLINE Extent measure(const Terms& terms, std::int64_t count) {
    Extremes extremes;
    for (std::int64_t k = 0; k < count; k += lanes) {
        Vector x[4], error;
        for (int v = 0; v < 4; ++v) terms.term(k + std::int64_t{8} * v, x[v], error);
        widen(extremes, x);
    }
    return extent_of(extremes, Terms::bits);
}

}  // namespace hocket::exact
