// SPDX-License-Identifier: BSD-3-Clause
// The schedule: the messages and local copies of one process for arrays of given strides, which are
// one side or both of a plan, or one dimension's borders of a halo. Pure data: no buffer, no array.
// The executor runs any schedule.
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

/// Contents of one relayed message in the scratch memory: a parcel that begins or ends on this
/// process, or all parcels that it forwards. The flag of a parcel, a byte of the scratch memory, is
/// 1 if its first process refused the start.
struct Cargo {
    std::int64_t source = -1;  // the parcel's first process; -1: forwarded parcels
    std::int64_t flag_offset = 0;
    // Between the array and the scratch memory; of forwarded parcels and their flags, within that.
    std::vector<kernel::OffsetCopy> copies;
};

/// Invariant: a message depends on receives of lower rounds only, because a parcel goes on in a
/// later round than it came. In a round a process sends at most one message and receives at most
/// one.
struct Schedule : transport::Messages {
    /// For strategies with relays: the size of the scratch memory, in which each message has its
    /// own position; cargo is copied to it or from it.
    std::int64_t scratch = 0;
    std::vector<std::vector<Cargo>> outgoing, incoming;  // one list a message
    /// For a plan: the other processes that receive elements of this process, and those that send
    /// it some.
    std::vector<std::int64_t> receivers, senders;
    std::function<std::string()> text;  // for the log
};

/// One process's part of a plan. The messages know their sizes; each computes its copies at first
/// use.
/// @throws LayoutError as the plan does.
Schedule plan_schedule(const Plan& plan, const LocalView& source, const LocalView& destination);

/// Sorts the messages of one direction by turn, and assigns buffer positions.
void put_in_order(std::vector<transport::Message>& side, std::int64_t itemsize);

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
