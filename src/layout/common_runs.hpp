// SPDX-License-Identifier: BSD-3-Clause
// Where runs of two repeating sets meet, by the Chinese remainder theorem: no walk over blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/checked.hpp"
#include "layout/family.hpp"
#include "layout/index_set.hpp"

namespace hocket::layout {

/// How many meetings there are at most; what `for_common_runs` costs.
inline std::int64_t max_common_runs(const IndexSet& a, const IndexSet& b) {
    const std::int64_t common = std::gcd(a.period(), b.period());
    const auto runs_a = static_cast<base::wide>(a.runs().size());
    const auto runs_b = static_cast<base::wide>(b.runs().size());
    const base::wide offsets =
        (a.per_period() * runs_b + b.per_period() * runs_a) / common + runs_a * runs_b;
    return offsets > base::max_size ? base::max_size : static_cast<std::int64_t>(offsets);
}

/// Two sets that both repeat: calls `visit(first, length, period)` for each stretch that both hold,
/// which comes again after every `period` (the least common multiple of theirs, which may be beyond
/// the extent), until `visit` gives false. Stretches that begin beyond the extent are left out.
///
/// A run of the one that starts at x and a run of the other that starts at x + shift overlap where
/// -length < shift < length; the shifts that occur are those congruent to the difference of their
/// first indices modulo the common divisor of the periods, and each occurs once a period.
template <class Visit>
void for_common_runs(const IndexSet& a, const IndexSet& b, Visit&& visit) {
    using base::wide;
    const std::int64_t common = std::gcd(a.period(), b.period());
    const wide turns = b.period() / common;  // of a's period in theirs together
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

/// True where it is cheaper to find by congruences where two sets meet than to step through the
/// runs of one of them in [0, end).
bool use_congruences(const IndexSet& a, const IndexSet& b, std::int64_t end);

/// Appends the families that both sets hold, neither sorted nor joined.
void add_common_runs(const IndexSet& source, const IndexSet& destination, std::vector<Family>& out);

/// The number of elements that both sets hold.
std::int64_t count_common_runs(const IndexSet& a, const IndexSet& b);

/// Whether both hold any element; both repeat.
bool any_common_run(const IndexSet& a, const IndexSet& b);

}  // namespace hocket::layout
