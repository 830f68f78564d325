// SPDX-License-Identifier: BSD-3-Clause
// Makers of schedules: one side or both of a plan, or one dimension's borders of a halo.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/plan.hpp"
#include "transfer/cut.hpp"
#include "transfer/local_view.hpp"
#include "transport/message.hpp"

namespace hocket::transfer {

using transport::Cargo;
using transport::Schedule;

/// One process's part of a plan. The messages know their sizes; each computes its copies at first
/// use.
/// @throws LayoutError as the plan does.
Schedule plan_schedule(const Plan& plan, const LocalView& source, const LocalView& destination);

/// Sorts all messages of one direction by turn, adds up their bytes, and assigns buffer positions.
/// `local`: the bytes that the process copies beside them.
void put_in_order(std::vector<transport::Message>& side, std::int64_t itemsize,
                  std::int64_t local = 0);

/// Adds the messages of a plan with relays. @throws LayoutError as Plan::steps does.
void add_relay(Schedule& schedule, const Plan& plan, const LocalView& source,
               const LocalView& destination);

/// From a bounded cache, by value. `options` are the plan's, with a named strategy ("auto" means
/// direct here), because all processes must know it.
std::shared_ptr<const Schedule> cached_schedule(const Layout& source_layout,
                                                const Layout& destination_layout,
                                                const plan::Options& options,
                                                const LocalView& source,
                                                const LocalView& destination);

}  // namespace hocket::transfer
