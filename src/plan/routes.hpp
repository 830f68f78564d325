// SPDX-License-Identifier: BSD-3-Clause
// The route of one parcel under a strategy (Avalani, Choudhary, Foster, Krishnaiyer and Xu, "A Data
// Transfer Library for Communicating Data-Parallel Tasks", section 2.2).
#pragma once

#include <functional>
#include <vector>

#include "plan/routing.hpp"

namespace hocket::plan {

/// The hops from `source` to `destination`, in order.
using Routes = std::function<std::vector<Hop>(std::int64_t source, std::int64_t destination)>;

/// For a transfer from `senders` to `receivers` processes; not for hybrid, whose routes depend on
/// the rounds. Staged and multistage compute routes with the larger side as the sender, and reverse
/// them if it is the receiver.
Routes routes_of(Strategy strategy, std::int64_t senders, std::int64_t receivers,
                 std::int64_t stages);

}  // namespace hocket::plan
