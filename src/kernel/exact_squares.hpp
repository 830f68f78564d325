// SPDX-License-Identifier: BSD-3-Clause
// Sums of squares of float64 numbers, each split into three parts of 24 bits, at the same places
// for a whole block: no product of two parts has a rounding error, nor has a sum of 128 of them (K.
// Ozaki et al., "Error-free transformations of matrix multiplication by using fast routines of
// matrix multiplication and its applications", 2012). A square and its error take more additions.
// Compiled into each caller, for the caller's processor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernel/exact_extract.hpp"

namespace hocket::exact {

inline constexpr int part_bits = 24;  // one of them is the sign
inline constexpr int square_parts = 3;
inline constexpr int square_sums = 2 * square_parts - 1;  // of products with one unit each
inline constexpr std::int64_t run_length = 128;           // vectors
static_assert(2 * (part_bits - 1) + 7 <= 53 && run_length <= 1 << 7);
// Sizes of squares that the parts of numbers still have.
inline constexpr int square_sizes = 2 * (square_parts * part_bits - 1 - 53);

// A power of two of which no number is larger, given the largest one and the bound before. 0: out
// of range.
inline double bound_for(double most, double before) {
    if (most == 0) return before == 0 ? 1 : before;
    if (most <= before && most > before / 4) return before;
    return most >= 0x1p-430 && most < 0x1p430 ? power_of_two(field_of(most) - 1022) : 0;
}

// A sum of vectors in two: of multiples of 2^26 units, and of the rests.
template <class Vector>
struct SplitSum {
    double start = 0;
    Vector high, low = {};
    HOCKET_INLINE void begin(double unit) {
        start = 1.5 * 0x1p52 * 0x1p26 * unit;
        high = Vector{} + start;
    }
    HOCKET_INLINE void add(const Vector& x) {
        Vector rest = x;
        take(high, rest);
        low += rest;
    }
};

// The sum, unless a number exceeds the bound or has bits below the last part. `most`: the largest.
template <class Target>
HOCKET_INLINE BlockSum sum_split(const double* values, std::int64_t count, double bound,
                                 double& most) {
    using Vector = typename Target::Vector;
    Vector rounders[square_parts], largest = {};
    for (int part = 0; part < square_parts; ++part)
        rounders[part] = Vector{} + 1.5 * 0x1p52 * bound * power_of_two(1 - part_bits * (part + 1));
    SplitSum<Vector> sums[square_sums];
    for (int k = 0; k < square_sums; ++k)
        sums[k].begin(bound * bound * power_of_two(2 - part_bits * (k + 2)));
    Bits<Vector> left = {};
    for (std::int64_t k = 0; k < count;) {
        const std::int64_t end = std::min(count, k + run_length * width<Vector>);
        Vector products[square_parts][square_parts] = {};
        for (; k < end; k += width<Vector>) {
            Vector x, parts[square_parts];
            load(x, values + k);
            raise(largest, x);
#pragma GCC unroll 3
            for (int part = 0; part < square_parts; ++part) {
                if (part > 0) x -= parts[part - 1];
                parts[part] = (x + rounders[part]) - rounders[part];
            }
            left |= (Bits<Vector>)x ^ (Bits<Vector>)parts[square_parts - 1];
#pragma GCC unroll 3
            for (int i = 0; i < square_parts; ++i)
#pragma GCC unroll 3
                for (int j = i; j < square_parts; ++j)
                    Target::add_product(products[i][j], parts[i], parts[j]);
        }
        for (int i = 0; i < square_parts; ++i)
            for (int j = i; j < square_parts; ++j)
                sums[i + j].add(i == j ? products[i][j] : products[i][j] * 2.0);
    }
    // The rests of one sum and the multiples of the next one have few bits together.
    double found[square_sums + 1] = {};
    long long below = 0;
    most = 0;
    for (int lane = 0; lane < width<Vector>; ++lane) {
        below |= left[lane];
        most = std::max(most, largest[lane]);
        for (int k = 0; k < square_sums; ++k) {
            found[k] += sums[k].high[lane] - sums[k].start;
            found[k + 1] += sums[k].low[lane];
        }
    }
    const bool whole = most <= bound && (below & no_sign) == 0 && !std::isnan(found[0]);
    return {found[0], found[1], whole, {found[2], found[3], found[4], found[5]}};
}

// A block of numbers whose sizes differ much has no sum if it may be divided. If neighbours
// differ much, too, squares are added as other products are.
template <class Target>
HOCKET_INLINE BlockSum sum_squares(const double* values, std::int64_t count, Guess& guess) {
    for (bool again = true; again && !guess.apart;) {
        double most = 0;
        const double bound = guess.bound == 0 ? 1 : guess.bound;
        const BlockSum sum = sum_split<Target>(values, count, bound, most);
        guess.bound = bound_for(most, guess.bound);
        if (sum.whole) return sum;
        again = guess.bound != bound && guess.bound != 0;
    }
    if (!guess.apart && count > neighbours) return {.whole = false};
    const Products<Target, false, double> terms{values, values};
    const BlockSum sum = sum_lanes<typename Target::Vector, 1>(terms, count, guess)[0];
    guess.apart = !sum.whole || guess.bits - terms.bits > square_sizes;
    return sum;
}

}  // namespace hocket::exact
