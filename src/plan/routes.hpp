// SPDX-License-Identifier: BSD-3-Clause
// The way of one parcel under a strategy (Avalani, Choudhary, Foster, Krishnaiyer and Xu, "A Data
// Transfer Library for Communicating Data-Parallel Tasks", section 2.2).
#pragma once

#include <functional>
#include <vector>

#include "plan/schedule.hpp"

namespace hocket::plan {

/// The legs from `source` to `destination`, in order.
using Routes = std::function<std::vector<Hop>(std::int64_t source, std::int64_t destination)>;

/// Of a transfer from `senders` to `receivers` processes; not of hybrid, whose ways depend on the
/// rounds. Staged and multistage take the side with more processes for the sender's, and go the
/// same ways backwards where it is not.
Routes routes_of(Strategy strategy, std::int64_t senders, std::int64_t receivers,
                 std::int64_t stages);

}  // namespace hocket::plan
