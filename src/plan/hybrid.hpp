// SPDX-License-Identifier: BSD-3-Clause
// The all-to-all/staged hybrid: while some senders send directly to their receivers, the others
// collect parcels for the same receiver from each other.
#pragma once

#include "plan/routing.hpp"

namespace hocket::plan {

/// Of n processes on the larger side and m on the smaller, m send directly. The others form groups
/// of m or more, whose members collect for one receiver each; the groups then send one after the
/// other. For full traffic and m that divides n, that takes m + n/m - 1 rounds (Figure 2 of the
/// paper: 3 for 4 and 2) instead of n. Without a gain (n < m + 2, sparse traffic) it is the direct
/// strategy, so it never takes more rounds, or more messages between the sides. If the receiving
/// side is the larger one, everything is reversed.
/// `parcels`: all of the plan.
Routing make_hybrid(const std::shared_ptr<const Problem>& problem, std::vector<Parcel> parcels);

/// Whether the model's formula for hybrid is close for n and m processes: every group has at least
/// m members, and nearly all pairs exchange elements. Otherwise the model takes hybrid for direct.
inline bool hybrid_groups(std::int64_t n, std::int64_t m, double messages) {
    return m >= 2 && n >= 2 * m &&
           messages >= 0.9 * static_cast<double>(n) * static_cast<double>(m);
}

}  // namespace hocket::plan
