// SPDX-License-Identifier: BSD-3-Clause
// Error-free extraction: with sum = 1.5 * 2^m and |x| much less, (sum + x) - sum is x rounded to a
// multiple of sum's last bit, and x less that is exact (Rump, Ogita, Oishi, "Accurate
// floating-point summation part I: faithful rounding", 2008). A running sum in the place of a fixed
// one is the idea of Demmel, Nguyen, "Parallel reproducible summation" (2015). So the leading bits
// of all x have a sum without rounding error. The rests have one, too, while it needs 53 bits or
// less of the unit of which all x are multiples; the least |x| gives that unit.
// Compiled into each caller, for the caller's processor.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernel/exact_block.hpp"
#include "kernel/exact_columns.hpp"
#include "kernel/exact_sizes.hpp"

namespace hocket::exact {

// The sums of one part of the numbers, or of two whose numbers alternate.
template <std::size_t parts>
using Sums = std::array<BlockSum, parts>;

// The processor's own prefetches stop at the end of a page, so loops request numbers a page ahead.
// (Measured: a sum on a Zen 3, with AVX2, takes 40 % less time, a dot product 8 %.)
template <class T>
inline constexpr std::int64_t ahead = 4096 / sizeof(T);

// Terms that are numbers.
template <class T>
struct Numbers {
    static constexpr int bits = std::numeric_limits<T>::digits;
    static constexpr bool errors = false;
    static constexpr int most_splits = exact::most_splits;
    const T* values;
    template <class Vector>
    HOCKET_INLINE void term(std::int64_t k, Vector& x, Vector&) const {
        load(x, values + k);
    }
    static constexpr std::int64_t line = 64 / sizeof(T);
    HOCKET_INLINE void prefetch(std::int64_t k) const { __builtin_prefetch(values + k + ahead<T>); }
    HOCKET_INLINE bool underflow(std::int64_t) const { return false; }
    template <class Vector>
    HOCKET_INLINE static void take(Vector& sum, Vector& x) {
        exact::take(sum, x);
    }
};

// Neighbours exchange their places.
template <class Vector>
HOCKET_INLINE Vector exchanged(const Vector& x) {
    if constexpr (width<Vector> == 2)
        return __builtin_shufflevector(x, x, 1, 0);
    else if constexpr (width<Vector> == 4)
        return __builtin_shufflevector(x, x, 1, 0, 3, 2);
    else
        return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
}

// Terms that are products x[k] * y[k], each a product and its error, which is 0 for float32.
// `crossed`: y's neighbours exchange their places, and those at odd places change their signs.
template <class Target, bool crossed, class T>
struct Products {
    static constexpr bool errors = sizeof(T) == sizeof(double);
    static constexpr int bits = errors ? error_below : 2 * std::numeric_limits<T>::digits;
    static constexpr int most_splits = errors ? 2 : exact::most_splits;
    using Vector = typename Target::Vector;
    const T *x, *y;
    static constexpr std::int64_t line = 64 / sizeof(T);
    HOCKET_INLINE void prefetch(std::int64_t k) const {
        __builtin_prefetch(x + k + ahead<T>);
        __builtin_prefetch(y + k + ahead<T>);
    }
    HOCKET_INLINE void factors(std::int64_t k, Vector& a, Vector& b) const {
        load(a, x + k);
        load(b, y + k);
        if constexpr (crossed) {
            Bits<Vector> signs;
            for (int lane = 0; lane < width<Vector>; ++lane) signs[lane] = lane % 2 == 0 ? 0 : sign;
            b = (Vector)((Bits<Vector>)exchanged(b) ^ signs);
        }
    }
    HOCKET_INLINE void term(std::int64_t k, Vector& product, Vector& error) const {
        Vector a, b;
        factors(k, a, b);
        product = a * b;
        if constexpr (errors) Target::error(a, b, product, error);
    }
    HOCKET_INLINE static void take(Vector& sum, Vector& x) {
        Vector next;  // clang returns no vectors that the caller's level lacks
        Target::plus(sum, x, next);
        exact::take(sum, x, next);
    }
    // Whether some product is 0 although neither of its factors is.
    HOCKET_INLINE bool underflow(std::int64_t count) const {
        Bits<Vector> any = {};
        for (std::int64_t k = 0; k < count; k += width<Vector>) {
            Vector a, b;
            factors(k, a, b);
            any |= (a * b == 0.0) & (a != 0.0) & (b != 0.0);
        }
        long long found = 0;
        for (int lane = 0; lane < width<Vector>; ++lane) found |= any[lane];
        return found != 0;
    }
};

// Takes `splits` parts of all terms, and adds the rests. Errors of products have sums of their own:
// an error and its unit are 2^error_below less than the product and its unit, so that both have
// equally many parts. The result is whole if no term is larger than twice `start` is made for, and
// the sum of rests has few enough bits. Without `zeros` it means nothing if some term is 0, but the
// sizes of terms take a third of the operations.
template <class Vector, int splits, std::size_t parts, bool zeros, class Source>
HOCKET_INLINE Sums<parts> extract(const Source& terms, std::int64_t count, double start,
                                  Extent& extent) {
    constexpr int wide = splits > 1 || Source::errors ? 2 : 4;
    constexpr int each = splits + 1, all_sums = Source::errors ? 2 * each : each;
    double starts[all_sums];
    Vector sums[all_sums][wide];
#pragma GCC unroll 6
    for (int level = 0; level < all_sums; ++level) {
        const int below = level < each ? taken * level : error_below + taken * (level - each);
        starts[level] = level % each == splits ? 0 : start * power_of_two(-below);
#pragma GCC unroll 4
        for (int v = 0; v < wide; ++v) sums[level][v] = Vector{} + starts[level];
    }
    Extremes<Vector> extremes;
    Vector smallest = Vector{} + std::numeric_limits<double>::infinity();
    for (std::int64_t k = 0; k < count; k += std::int64_t{wide} * width<Vector>) {
        if constexpr (width<Vector> < 8)
            for (std::int64_t n = 0; n < std::int64_t{wide} * width<Vector>; n += Source::line)
                terms.prefetch(k + n);
        Vector all[wide];
#pragma GCC unroll 4  // keeps the sums in registers
        for (int v = 0; v < wide; ++v) {
            Vector x, error;
            terms.term(k + std::int64_t{v} * width<Vector>, x, error);
            all[v] = x;
            if constexpr (Source::errors) lower(smallest, x);
            if constexpr (!zeros) raise(extremes.most, x);
#pragma GCC unroll 4
            for (int level = 0; level < splits; ++level) {
                Source::take(sums[level][v], x);
                if constexpr (Source::errors) Source::take(sums[each + level][v], error);
            }
            sums[splits][v] += x;
            if constexpr (Source::errors) sums[each + splits][v] += error;
        }
        if constexpr (zeros) widen(extremes, all);
    }
    if constexpr (!zeros) {
        using Unsigned = typename Simd<sizeof(Vector)>::Unsigned;
        extremes.least =
            (Bits<Vector>)(((Unsigned)smallest | (Unsigned)(Bits<Vector>{} + sign)) - 1);
    }
    double found[parts][most_sums] = {};
    for (int level = 0; level < all_sums; ++level) {
        Vector all = {};
        for (int v = 0; v < wide; ++v) all += sums[level][v] - starts[level];
        for (std::size_t lane = 0; lane < width<Vector>; ++lane)
            found[lane % parts][level] += all[lane];
    }
    extent = extent_of(extremes, Source::bits);
    bool fits = extent.top * (0.75 * (1 << spare)) < start &&
                extent.splits_for(field_of(start) - 1023 - spare) <= splits;
    if constexpr (Source::errors) {
        for (int lane = 0; lane < width<Vector>; ++lane) extent.any_zero |= smallest[lane] == 0;
        fits = fits && extent.unit - error_below >= least_unit;
        if (zeros && extent.any_zero && terms.underflow(count)) fits = extent.zero = false;
    }
    Sums<parts> result;
    for (std::size_t part = 0; part < parts; ++part) {
        const auto& of = found[part];
        const bool whole = extent.zero || (fits && !std::isnan(of[splits]));
        result[part] = {of[0], of[1], whole, {of[2], of[3], of[4], of[5]}};
    }
    return result;
}

// Zeros say nothing, and terms whose parts are too many start again.
inline void learn(Guess& guess, const Extent& extent, int most) {
    if (extent.zero) return;
    guess.start = 0;
    if (extent.top == 0 || !in_range(extent.top)) return;
    guess.splits = extent.splits_for(field_of(extent.top) - 1023 + 1);
    if (guess.splits <= most) guess.start = start_for(extent.top);
}

// Errors have as many sums as products: two with one split, three with two splits.
template <class Vector, std::size_t parts, bool zeros, class Source>
HOCKET_INLINE Sums<parts> extract_products(const Source& terms, std::int64_t count, Guess& guess,
                                           Extent& extent) {
    if (guess.splits == 1)
        return extract<Vector, 1, parts, zeros>(terms, count, guess.start, extent);
    return extract<Vector, 2, parts, zeros>(terms, count, guess.start, extent);
}

template <class Vector, std::size_t parts, class Source>
HOCKET_INLINE Sums<parts> extract_terms(const Source& terms, std::int64_t count, Guess& guess,
                                        Extent& extent) {
    if constexpr (Source::errors) {
        Sums<parts> sums;
        if (!guess.zeros)
            sums = extract_products<Vector, parts, false>(terms, count, guess, extent);
        if (guess.zeros || extent.any_zero)
            sums = extract_products<Vector, parts, true>(terms, count, guess, extent);
        guess.zeros = extent.any_zero;
        return sums;
    } else {
        switch (guess.splits) {
            case 0:
                return extract<Vector, 0, parts, true>(terms, count, guess.start, extent);
            case 1:
                return extract<Vector, 1, parts, true>(terms, count, guess.start, extent);
            case 2:
                return extract<Vector, 2, parts, true>(terms, count, guess.start, extent);
            default:
                return extract<Vector, 3, parts, true>(terms, count, guess.start, extent);
        }
    }
}

template <class Vector, std::size_t parts, class Source>
HOCKET_INLINE Sums<parts> sum_lanes(const Source& terms, std::int64_t count, Guess& guess) {
    Extent extent;
    if (guess.start == 0) {
        extent = measure<Vector>(terms, count);
        learn(guess, extent, Source::most_splits);
        if (extent.zero && !terms.underflow(count)) return {};
    }
    for (int attempt = 0; attempt < 2 && guess.start != 0; ++attempt) {
        const Sums<parts> sums = extract_terms<Vector, parts>(terms, count, guess, extent);
        learn(guess, extent, Source::most_splits);
        if (std::ranges::all_of(sums, &BlockSum::whole)) return sums;
    }
    Sums<parts> none;
    for (BlockSum& sum : none) sum.whole = false;
    return none;
}

}  // namespace hocket::exact
