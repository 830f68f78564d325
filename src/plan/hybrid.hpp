// SPDX-License-Identifier: BSD-3-Clause
// The all-to-all/staged hybrid: while some senders send directly to their receivers, the others
// collect parcels for the same receiver from each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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

/// The processes of the larger side that do not send directly, as many groups of `m` or more as
/// possible, with the rest spread over them.
struct HybridGroup {
    std::int64_t number, first, size;
};
inline std::int64_t hybrid_group_count(std::int64_t n, std::int64_t m) {
    return std::max<std::int64_t>((n - m) / m, 1);
}
HybridGroup hybrid_group(std::int64_t n, std::int64_t m, std::int64_t rank);  ///< rank >= m

/// The messages of hybrid with groups of at least m members each, and the elements in them.
/// `parcels`: all of the plan.
std::pair<std::int64_t, std::int64_t> count_hybrid(const Problem& problem,
                                                   const std::vector<Parcel>& parcels);

/// Whether the model's formula for hybrid is close for n and m processes: every group has at least
/// m members, and nearly all pairs exchange elements. Otherwise the model takes hybrid for direct.
inline bool hybrid_groups(std::int64_t n, std::int64_t m, double messages) {
    return m >= 2 && n >= 2 * m &&
           messages >= 0.9 * static_cast<double>(n) * static_cast<double>(m);
}

}  // namespace hocket::plan
