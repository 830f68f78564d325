// SPDX-License-Identifier: BSD-3-Clause
// Sums of columns: of each row, a run of numbers. Compiled into each caller, for the caller's
// processor.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "kernel/exact_block.hpp"
#include "kernel/exact_sizes.hpp"

namespace hocket::exact {

inline double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}
inline bool in_range(double top) {
    return top == 0 || (top >= 0x1p-900 && top < 0x1p1000);
}
inline int field_of(double value) {
    return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52);
}
// The initial value of a sum: 1.5 * 2^(e + spare), where top < 2^e.
inline double start_for(double top) {
    return 1.5 * power_of_two(top == 0 ? 0 : field_of(top) - 1023 + 1 + spare);
}
// The same for columns, except for numbers that are out of range.
template <class Vector>
HOCKET_INLINE void start_columns(const Vector& top, Vector& start) {
    using Bits = Bits<Vector>;
    const Bits known = (top >= 0x1p-900) & (top < 0x1p1000);
    const Bits exponent = (Bits)top & known & 0x7ff0000000000000LL;
    const Bits half = Bits{} + (static_cast<long long>(1 + column_spare) << 52) + (1LL << 51);
    start = known ? (Vector)(exponent + half) : start;
}

// Rows at a time. Rows whose distance is a power of two share few places of the first cache, which
// these rows and the sums must not exceed. (Measured: 8 ways of a Zen 3, with AVX2; 12 of a Zen 5
// and a Sapphire Rapids, with AVX-512.)
template <class Vector>
inline constexpr std::size_t together = width<Vector> == 8 ? 8 : 4;

// Calls add(column, rows, their number) for all rows, some rows and `step` columns at a time.
template <class Vector, class T, class Add>
HOCKET_INLINE void walk_columns(std::span<const void* const> rows, std::int64_t begin,
                                std::int64_t columns, std::int64_t step, const Add& add) {
    constexpr std::size_t together = exact::together<Vector>;
    const std::size_t last = rows.size() - 1;
    std::size_t k = 0;
    const auto pointers = [&](std::size_t from, const T*(&at)[together]) {
        for (std::size_t row = 0; row < together; ++row)
            at[row] = static_cast<const T*>(rows[std::min(from + row, last)]) + begin;
    };
    const T *at[together], *next[together];
    for (; k + together <= rows.size(); k += together) {
        pointers(k, at);
        pointers(k + together, next);
        for (std::int64_t c = 0; c < columns; c += step) {
            // The processor's own prefetches stop at the end of a page. The next rows have no room
            // in 8 ways of the first cache, but in the second one (measured on a Zen 3: a fifth to
            // a quarter less time).
            if constexpr (width<Vector> == 8)
#pragma GCC unroll 8
                for (std::size_t row = 0; row < together; ++row) __builtin_prefetch(next[row] + c);
            else
#pragma GCC unroll 8
                for (std::size_t row = 0; row < together; ++row)
                    __builtin_prefetch(next[row] + c, 0, 2);
            add(c, at, std::integral_constant<std::size_t, together>{});
        }
    }
    for (; k < rows.size(); ++k) {
        pointers(k, at);
        for (std::int64_t c = 0; c < columns; c += step)
            add(c, at, std::integral_constant<std::size_t, 1>{});
    }
}

// Columns from `begin` on: so many numbers a sum, 2 or 3.
template <class Vector, int levels, class T>
HOCKET_INLINE void columns_lanes(std::span<const void* const> rows, std::int64_t begin,
                                 std::int64_t columns, double* guesses, ColumnSums& sums) {
    using Bits = Bits<Vector>;
    constexpr std::int64_t step = 8, wide = width<Vector>;
    struct State {
        Vector sums[levels] = {}, most = {}, left = {};
    };
    State states[widest / wide];
    double scale[levels] = {1};  // of each number of a sum, to the first one
    for (int level = 1; level < levels; ++level)
        scale[level] = scale[level - 1] * power_of_two(-column_taken);
    // The first rows give the size of numbers.
    constexpr std::size_t looked_at = 16;
    const bool known = std::all_of(guesses + begin, guesses + begin + columns,
                                   [](double guess) { return guess != 0; });
    if (!known)
        walk_columns<Vector, T>(
            rows.first(std::min(looked_at, rows.size())), begin, columns, wide,
            [&](std::int64_t c, const T* const* at, auto count) __attribute__((always_inline)) {
                Vector most = states[c / wide].most;
                for (std::size_t row = 0; row < count; ++row) {
                    Vector x;
                    load(x, at[row] + c);
                    raise(most, x);
                }
                states[c / wide].most = most;
            });
    for (std::int64_t c = 0; c < columns; c += wide) {
        State& state = states[c / wide];
        Vector guess, made = Vector{} + 1.5 * (1 << column_spare);
        load(guess, guesses + begin + c);
        start_columns(state.most, made);
        guess = guess == 0.0 ? made : guess;
        std::memcpy(guesses + begin + c, &guess, sizeof guess);
        for (int level = 0; level < levels; ++level) state.sums[level] = guess * scale[level];
        state.most = Vector{};
    }
    walk_columns<Vector, T>(
        rows, begin, columns,
        step, [&](std::int64_t c, const T* const* at, auto count) __attribute__((always_inline)) {
#pragma GCC unroll 4
            for (std::int64_t k = c; k < c + step; k += wide) {
                State state = states[k / wide];
                for (std::size_t row = 0; row < count; ++row) {
                    Vector x;
                    load(x, at[row] + k);
                    raise(state.most, x);
#pragma GCC unroll 3
                    for (int level = 0; level < levels; ++level) take(state.sums[level], x);
                    state.left = (Vector)((Bits)state.left | (Bits)x);
                }
                states[k / wide] = state;
            }
        });
    for (std::int64_t c = 0; c < columns; c += wide) {
        const State& state = states[c / wide];
        Vector start, sum[levels];
        load(start, guesses + begin + c);
        for (int level = 0; level < levels; ++level)
            sum[level] = state.sums[level] - start * scale[level];
        const Bits fits = state.most * (1.5 * 2 * deepest) < start;
        const Bits broken = ~(fits & (((Bits)state.left & no_sign) == 0));
        start_columns(state.most, start);
        std::memcpy(sums.high + begin + c, &sum[0], sizeof sum[0]);
        std::memcpy(sums.low + begin + c, &sum[1], sizeof sum[1]);
        if constexpr (levels > 2) std::memcpy(sums.least + begin + c, &sum[2], sizeof sum[2]);
        std::memcpy(sums.broken + begin + c, &broken, sizeof broken);
        std::memcpy(guesses + begin + c, &start, sizeof start);
    }
}

template <class Vector>
HOCKET_INLINE bool join_lanes(const ColumnSums& sums, std::int64_t columns, ColumnSums& totals,
                              std::int64_t* broken) {
    using Bits = Bits<Vector>;
    Bits any = {};
    for (std::int64_t c = 0; c < columns; c += width<Vector>) {
        Vector high, low, more, rest;
        load(high, totals.high + c);
        load(low, totals.low + c);
        load(more, sums.high + c);
        load(rest, sums.low + c);
        Bits apart;
        std::memcpy(&apart, sums.broken + c, sizeof apart);
        const Vector both = high + more, least = low + rest;
        // The errors of these additions (Knuth's TwoSum).
        const Vector of_high = both - high, of_low = least - low;
        apart |= ((high - (both - of_high)) + (more - of_high) != 0.0) |
                 ((low - (least - of_low)) + (rest - of_low) != 0.0);
        any |= apart;
        high = apart ? high : both;
        low = apart ? low : least;
        std::memcpy(totals.high + c, &high, sizeof high);
        std::memcpy(totals.low + c, &low, sizeof low);
        std::memcpy(broken + c, &apart, sizeof apart);
    }
    long long found = 0;
    for (int lane = 0; lane < width<Vector>; ++lane) found |= any[lane];
    return found != 0;
}

// Columns of float32, whose sum in float64 has no rounding error if all terms are multiples of a
// unit of which the sum has 53 bits or less: so it is unless sizes differ by more than 2^21 (53 -
// 24 - 8) within a column of `deepest` rows. Returns how many columns have no such sum.
template <class Vector>
HOCKET_INLINE std::int64_t plain_columns(std::span<const void* const> rows, std::int64_t columns,
                                         ColumnSums& sums, bool (&plain)[widest]) {
    using Words = typename Simd<sizeof(Vector)>::Words;
    using Places = typename Simd<sizeof(Vector)>::Places;
    constexpr std::int64_t step = 16, half = width<Vector>, wide = 2 * half;
    struct State {
        Vector low = {}, high = {};
        Words most = {};
        Places least = ~Places{};
    };
    State states[widest / wide];
    walk_columns<Vector, float>(
        rows, 0, columns, step,
        [&](std::int64_t c, const float* const* at, auto count) __attribute__((always_inline)) {
#pragma GCC unroll 4
            for (std::int64_t k = c; k < c + step; k += wide) {
                State state = states[k / wide];
                for (std::size_t row = 0; row < count; ++row) {
                    Words size;
                    std::memcpy(&size, at[row] + k, sizeof size);
                    size &= 0x7fffffff;
                    state.most = size > state.most ? size : state.most;
                    const Places less = (Places)size - 1;  // zero becomes the largest
                    state.least = less < state.least ? less : state.least;
                    Vector low, high;
                    load(low, at[row] + k);
                    load(high, at[row] + k + half);
                    state.low += low;
                    state.high += high;
                }
                states[k / wide] = state;
            }
        });
    std::int64_t others = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
        const State& state = states[c / wide];
        const int lane = static_cast<int>(c % wide);
        const auto least = static_cast<std::uint32_t>(state.least[lane]) + 1;  // 0: all are zero
        const double top = std::bit_cast<float>(static_cast<std::int32_t>(state.most[lane]));
        const int unit = std::max(static_cast<int>(least >> 23), 1) - 150;
        plain[c] = least == 0 || static_cast<double>(rows.size()) * top <= power_of_two(unit + 53);
        if (!plain[c]) ++others;
        sums.high[c] = lane < half ? state.low[lane] : state.high[lane - half];
        sums.low[c] = 0;
        sums.broken[c] = plain[c] ? 0 : -1;
    }
    return others;
}

// A guess stays 0 where plain sums suffice, so that the next rows begin with them again.
template <class Vector, class T>
HOCKET_INLINE void all_columns(std::span<const void* const> rows, std::int64_t columns,
                               double* guesses, ColumnSums& sums) {
    if constexpr (sizeof(T) == sizeof(float)) {
        constexpr std::int64_t group = 16;
        bool plain[widest];
        if (columns % group == 0 && guesses[0] == 0 &&
            plain_columns<Vector>(rows, columns, sums, plain) <= columns / 4) {
            for (std::int64_t c = 0; c < columns; c += group) {
                if (std::all_of(plain + c, plain + c + group, [](bool is) { return is; })) continue;
                columns_lanes<Vector, 2, T>(rows, c, group, guesses, sums);
                std::fill_n(guesses + c, group, 0);
            }
            return;
        }
    }
    columns_lanes<Vector, 2, T>(rows, 0, columns, guesses, sums);
}

}  // namespace hocket::exact
