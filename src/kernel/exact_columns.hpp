// SPDX-License-Identifier: BSD-3-Clause
// Sums of columns: of each row, a run of numbers. Compiled into each caller, for the caller's
// processor.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

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

// Rows at a time, from end to end: memory delivers long runs fastest. Rows whose distance is a
// power of two share few places of the first cache, which these rows and the next ones must not
// exceed.
inline constexpr std::size_t together = 4;

// Columns from `begin` on.
template <class T>
HOCKET_INLINE void columns_lanes(std::span<const void* const> rows, std::int64_t begin,
                                 std::int64_t columns, double* guesses, BlockSum* sums) {
    struct State {
        Vector high, low, most, left;
    };
    constexpr std::size_t looked_at = 16;
    State states[widest / 8];
    double starts[widest];
    for (std::int64_t c = 0; c < columns; c += 8) {
        Vector most = {};
        for (std::size_t k = 0; guesses[c] == 0 && k < std::min(looked_at, rows.size()); ++k) {
            Vector x;
            load(x, static_cast<const T*>(rows[k]) + begin + c);
            raise(most, x);
        }
        for (int lane = 0; lane < 8; ++lane) {
            double& guess = guesses[c + lane];
            if (guess == 0) guess = start_for(in_range(most[lane]) ? most[lane] : 0);
            starts[c + lane] = guess;
        }
        State& state = states[c / 8];
        load(state.high, starts + c);
        state.low = state.high * power_of_two(-taken);
        state.most = state.left = Vector{};
    }
    for (std::size_t k = 0; k < rows.size(); k += together) {
        const std::size_t end = std::min(k + together, rows.size()), last = rows.size() - 1;
        for (std::int64_t c = 0; c < columns; c += 8) {
            auto [high, low, most, left] = states[c / 8];
            for (std::size_t row = k; row < end; ++row) {
                Vector x;
                load(x, static_cast<const T*>(rows[row]) + begin + c);
                // The processor's own prefetches stop at the end of a page.
                __builtin_prefetch(static_cast<const T*>(rows[std::min(row + together, last)]) +
                                   begin + c);
                raise(most, x);
                const Vector more = high + x;
                const Vector rest = x - (more - high);
                high = more;
                const Vector again = low + rest;
                left = (Vector)((Bits)left | (Bits)(rest - (again - low)));
                low = again;
            }
            states[c / 8] = {high, low, most, left};
        }
    }
    for (std::int64_t c = 0; c < columns; ++c) {
        const State& state = states[c / 8];
        const int lane = static_cast<int>(c % 8);
        const double top = state.most[lane], start = starts[c];
        const bool fits = top * (0.75 * (1 << spare)) < start;
        sums[c] = {state.high[lane] - start,
                   state.low[lane] - start * power_of_two(-taken),
                   fits && (((Bits)state.left)[lane] & no_sign) == 0,
                   {}};
        if (in_range(top)) guesses[c] = start_for(top);
    }
}

// Columns of float32, whose sum in float64 has no rounding error if all terms are multiples of a
// unit of which the sum has 53 bits or less: so it is unless sizes differ by more than 2^19 within
// a column of 1024. Returns how many columns have no such sum; theirs are not written.
HOCKET_INLINE std::int64_t plain_columns(std::span<const void* const> rows, std::int64_t columns,
                                         BlockSum* sums, bool (&plain)[widest]) {
    using Words __attribute__((vector_size(64))) = std::int32_t;
    using Places __attribute__((vector_size(64))) = std::uint32_t;
    constexpr std::int64_t wide = 16;
    struct State {
        Vector low = {}, high = {};
        Words most = {};
        Places least = ~Places{};
    };
    State states[widest / wide];
    for (std::size_t k = 0; k < rows.size(); k += together) {
        const std::size_t end = std::min(k + together, rows.size()), last = rows.size() - 1;
        for (std::int64_t c = 0; c < columns; c += wide) {
            State state = states[c / wide];
            for (std::size_t row = k; row < end; ++row) {
                const float* const at = static_cast<const float*>(rows[row]) + c;
                __builtin_prefetch(static_cast<const float*>(rows[std::min(row + together, last)]) +
                                   c);
                Words size;
                std::memcpy(&size, at, sizeof size);
                size &= 0x7fffffff;
                state.most = size > state.most ? size : state.most;
                const Places less = (Places)size - 1;  // zero becomes the largest
                state.least = less < state.least ? less : state.least;
                Vector low, high;
                load(low, at);
                load(high, at + 8);
                state.low += low;
                state.high += high;
            }
            states[c / wide] = state;
        }
    }
    std::int64_t others = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
        const State& state = states[c / wide];
        const int lane = static_cast<int>(c % wide);
        const auto least = static_cast<std::uint32_t>(state.least[lane]) + 1;  // 0: all are zero
        const double top = std::bit_cast<float>(static_cast<std::int32_t>(state.most[lane]));
        const int unit = std::max(static_cast<int>(least >> 23), 1) - 150;
        plain[c] = least == 0 || static_cast<double>(rows.size()) * top <= power_of_two(unit + 53);
        if (plain[c])
            sums[c] = {lane < 8 ? state.low[lane] : state.high[lane - 8], 0, true, {}};
        else
            ++others;
    }
    return others;
}

// A guess stays 0 where plain sums suffice, so that the next rows begin with them again.
template <class T>
HOCKET_INLINE void all_columns(std::span<const void* const> rows, std::int64_t columns,
                               double* guesses, BlockSum* sums) {
    if constexpr (sizeof(T) == sizeof(float)) {
        constexpr std::int64_t group = 16;
        bool plain[widest];
        if (columns % group == 0 && guesses[0] == 0 &&
            plain_columns(rows, columns, sums, plain) <= columns / 4) {
            for (std::int64_t c = 0; c < columns; c += group) {
                if (std::all_of(plain + c, plain + c + group, [](bool is) { return is; })) continue;
                columns_lanes<T>(rows, c, group, guesses + c, sums + c);
                std::fill_n(guesses + c, group, 0);
            }
            return;
        }
    }
    columns_lanes<T>(rows, 0, columns, guesses, sums);
}

}  // namespace hocket::exact
