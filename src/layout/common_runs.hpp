// SPDX-License-Identifier: BSD-3-Clause
// Finds the intersections of two periodic sets by the Chinese remainder theorem, without a walk
// over blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/checked.hpp"
#include "layout/family.hpp"
#include "layout/index_set.hpp"

namespace hocket::layout {

/// An upper bound on the number of intersections, which is the cost of `for_common_runs`.
inline std::int64_t max_common_runs(const IndexSet& a, const IndexSet& b) {
    const std::int64_t common = std::gcd(a.period(), b.period());
    const auto runs_a = static_cast<base::wide>(a.runs().size());
    const auto runs_b = static_cast<base::wide>(b.runs().size());
    const base::wide offsets =
        (a.per_period() * runs_b + b.per_period() * runs_a) / common + runs_a * runs_b;
    return offsets > base::max_size ? base::max_size : static_cast<std::int64_t>(offsets);
}

/// Both sets are periodic. Calls `visit(first, length, period)` for each run in both sets, which
/// repeats every `period` indices (the least common multiple of their periods, possibly beyond the
/// extent), until `visit` returns false. Omits runs that begin beyond the extent.
///
/// A run of one set that starts at x and a run of the other that starts at x + shift overlap if
/// -length < shift < length. The possible shifts are congruent to the difference of the first
/// indices modulo the common divisor of the periods, and each occurs once a period.
template <class Visit>
void for_common_runs(const IndexSet& a, const IndexSet& b, Visit&& visit) {
    using base::wide;
    const std::int64_t common = std::gcd(a.period(), b.period());
    const wide turns = b.period() / common;  // of a's period in the common period
    const wide period = a.period() * turns;
    const wide back = base::inverse((a.period() / common) % turns, turns);
    for (const Run& run_a : a.runs()) {
        for (const Run& run_b : b.runs()) {
            const wide difference = static_cast<wide>(run_b.first) - run_a.first;
            const wide lowest = -static_cast<wide>(run_b.length) + 1;
            wide shift = lowest + base::floor_mod<wide>(difference - lowest, common);
            wide turn = base::floor_mod<wide>((difference - shift) / common % turns * back, turns);
            for (; shift < run_a.length; shift += common) {
                const wide start = run_a.first + turn * a.period();
                const wide first = start + (shift > 0 ? shift : 0);
                const wide last = start + std::min<wide>(run_a.length, shift + run_b.length);
                if (first < a.extent() && !visit(static_cast<std::int64_t>(first),
                                                 static_cast<std::int64_t>(last - first), period))
                    return;
                turn -= back;
                if (turn < 0) turn += turns;
            }
        }
    }
}

/// True if congruences find the intersections faster than a walk over the runs of one set in [0,
/// end).
bool use_congruences(const IndexSet& a, const IndexSet& b, std::int64_t end);

/// Appends the families in both sets, neither sorted nor joined.
void add_common_runs(const IndexSet& source, const IndexSet& destination, std::vector<Family>& out);

/// The number of elements that both sets hold.
std::int64_t count_common_runs(const IndexSet& a, const IndexSet& b);

/// Whether the intersection has an element; both are periodic.
bool any_common_run(const IndexSet& a, const IndexSet& b);

}  // namespace hocket::layout
