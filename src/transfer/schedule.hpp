// SPDX-License-Identifier: BSD-3-Clause
// The messages and local copies of one process, for arrays of given strides: one side or both of a
// plan, or one dimension's borders of a halo. Pure data: no buffer, no array. The executor runs any
// schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/plan.hpp"
#include "transfer/cut.hpp"
#include "transfer/relay_plan.hpp"
#include "transport/message.hpp"

namespace hocket::transfer {

struct Schedule {
    transport::Direction sends, receives;
    std::optional<RelayPlan> relay;  // instead of these: strategies that forward
    transport::Chunks local;         // from this process to itself
    /// Of a plan: the other processes of the destination that receive elements of this process, and
    /// those of the source that send it some.
    std::vector<std::int64_t> receivers, senders;
    std::function<std::string()> text;  // for the log
};

/// One process's part of a plan. The messages know their sizes; each finds its copies at first use.
/// @throws LayoutError as the plan does.
Schedule plan_schedule(const Plan& plan, const LocalView& source, const LocalView& destination);

/// Sorts the messages of one direction by turn, and gives each the place of its buffer.
void put_in_order(transport::Direction& side, std::int64_t itemsize);

/// The same from a bounded cache, keyed by value; `options` as for the plan, but with the strategy
/// named ("auto" is direct here): all processes must know it.
std::shared_ptr<const Schedule> cached_schedule(const Layout& source_layout,
                                                const Layout& destination_layout,
                                                const plan::Options& options,
                                                const LocalView& source,
                                                const LocalView& destination);

}  // namespace hocket::transfer
