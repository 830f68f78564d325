// SPDX-License-Identifier: BSD-3-Clause
// Assignments of processes whose best peers are intervals, without a list of all pairs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "layout/index_set.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

/// One coordinate for each of another dimension's, so that as many as possible have their best.
struct IntervalMatching {
    /// `peer`: equal blocks, stride 1 or -1. Coordinates with most common indices choose first. If
    /// a coordinate holds several runs of indices, there is no matching.
    IntervalMatching(const layout::Axis& own, const layout::Axis& peer);
    static bool possible(const layout::Axis& own, const layout::Axis& peer);

    std::vector<std::int64_t> peer_of;  ///< of each own coordinate, or -1
    bool all_best = true;  ///< every coordinate that holds indices has one of its best peers
    bool most = true;      ///< no other choice has more common indices in total
};

/// The source process of each destination process so that the fewest elements move, -1: none. Only
/// for two grids without copies, and only if such matchings of their dimensions prove that no other
/// assignment is better. Time grows with coordinates, not with pairs.
std::optional<std::vector<std::int64_t>> assign_intervals(const Problem& problem);

}  // namespace hocket::plan
