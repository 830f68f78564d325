// SPDX-License-Identifier: BSD-3-Clause
// The route of one parcel under a strategy (Avalani, Choudhary, Foster, Krishnaiyer and Xu, "A Data
// Transfer Library for Communicating Data-Parallel Tasks", section 2.2).
#pragma once

#include <functional>
#include <vector>

#include "plan/routing.hpp"

namespace hocket::plan {

/// The kinds of routes of strategies with relays; `stages` decides between two.
enum class Relay {
    centre,         ///< through source process 0
    few_stagers,    ///< a stager for a block of the smaller side
    many_stagers,   ///< several stagers for a process of the smaller side
    butterfly,      ///< multistage
    hybrid_groups,  ///< see hybrid.hpp
};
/// @throws Error for direct, which relays nothing.
Relay relay_of(Strategy strategy, std::int64_t senders, std::int64_t receivers,
               std::int64_t stages);

/// The hops from `source` to `destination`, in order.
using Routes = std::function<std::vector<Hop>(std::int64_t source, std::int64_t destination)>;

/// For a transfer from `senders` to `receivers` processes; hybrid as if it always had groups. All
/// but centralized compute routes with the larger side as the sender, and reverse them if it is the
/// receiver.
Routes routes_of(Strategy strategy, std::int64_t senders, std::int64_t receivers,
                 std::int64_t stages);

}  // namespace hocket::plan
