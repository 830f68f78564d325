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

/// Whether a process needs the list of all parcels to find its own messages: where a side is a list
/// or boxes, and for copies in the source if parcels of several processes pass it.
bool needs_all_parcels(const Problem& problem, Strategy strategy);

/// Whether each process can find its own messages. Between two grids, no process may pass on more
/// than 2^24 parcels; if all are needed, there may not be more of them. The answer is the same on
/// all processes. Routes of hybrid are those of groups: see `hybrid_groups`.
bool has_own_routes(const std::shared_ptr<const Problem>& problem, Strategy strategy,
                    std::int64_t stages);

/// The messages of `make_routing` in which a process takes part, by increasing round. Time and
/// memory grow with its parcels, or with those of all processes if it needs these: `all`, or null.
/// Rounds are those of full traffic: each phase has as many as its busiest process may need, so
/// some may be empty.
std::vector<OwnMessage> own_routes(const std::shared_ptr<const Problem>& problem, Strategy strategy,
                                   std::int64_t stages, const SideRank& own,
                                   const std::vector<Parcel>* all = nullptr);

/// The number of rounds of `own_routes`, over all processes.
std::int64_t own_rounds(const Problem& problem, Strategy strategy, std::int64_t stages);

}  // namespace hocket::plan
