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

/// A parcel of a strategy with relays that begins or ends on this process. Its flag, a byte of the
/// scratch memory, is 1 if its first process refused the start.
struct OwnParcel {
    std::int64_t source;  // its first process
    std::int64_t flag_offset;
    std::vector<transport::LocalCopy> copies;  // between the array and the scratch memory
};
/// The contents of one relayed message in the scratch memory: parcels of this process, and copies
/// of parcels that came before.
struct Cargo {
    std::vector<OwnParcel> parcels;
    std::vector<transport::LocalCopy> forwarded;
};

/// Invariant: a message depends on receives of lower rounds only, because a parcel goes on in a
/// later round than it came. In a round a process sends at most one message and receives at most
/// one.
struct Schedule : transport::Messages {
    /// For strategies with relays: the size of the scratch memory, in which each message has its
    /// own position; cargo is copied to it or from it.
    std::int64_t scratch = 0;
    std::vector<Cargo> outgoing, incoming;
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
void put_in_order(transport::Direction& side, std::int64_t itemsize);

/// The bytes of scratch memory for a message of so many bytes.
constexpr std::int64_t scratch_bytes(std::int64_t message_bytes) {
    return (message_bytes + 63) / 64 * 64;
}
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
