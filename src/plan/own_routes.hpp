// SPDX-License-Identifier: BSD-3-Clause
// The messages of one process under a strategy with relays, without those of the others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/routing.hpp"

namespace hocket::plan {

/// A message of one process, with its parcels by source, then destination.
struct OwnMessage {
    std::int64_t round;
    SideRank from, to;
    std::int64_t elements;
    std::vector<Parcel> parcels;
};

/// Whether each process can find its own messages: between two grids, if no process passes on more
/// than 2^24 parcels; for multistage and hybrid, if the source has no copies. The answer is the
/// same on all processes. Routes of hybrid are those of groups: see `hybrid_groups`.
bool has_own_routes(const Problem& problem, Strategy strategy, std::int64_t stages);

/// The messages of `make_routing` in which a process takes part, by increasing round. Time and
/// memory grow with its parcels. Rounds are those of full traffic: each phase has as many as its
/// busiest process may need, so some may be empty.
std::vector<OwnMessage> own_routes(const std::shared_ptr<const Problem>& problem, Strategy strategy,
                                   std::int64_t stages, const SideRank& own);

/// The number of rounds of `own_routes`, over all processes.
std::int64_t own_rounds(const Problem& problem, Strategy strategy, std::int64_t stages);

}  // namespace hocket::plan
