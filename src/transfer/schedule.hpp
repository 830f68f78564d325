// SPDX-License-Identifier: BSD-3-Clause
// The messages and local copies of one process, for arrays of given strides: one side or both of a
// plan, or one dimension's borders of a halo. Pure data: no buffer, no array. The executor runs any
// schedule.
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

/// A parcel of a strategy that forwards, which begins or ends on this process. Its flag, a byte of
/// the scratch memory, is 1 if the process that it begins on refused the start.
struct OwnParcel {
    std::int64_t source;  // process that it begins on
    std::int64_t flag_offset;
    std::vector<transport::LocalCopy> copies;  // between the array and the scratch memory
};
/// What one message of such a strategy has in the scratch memory: parcels of this process, and
/// copies of parcels that came before.
struct Cargo {
    std::vector<OwnParcel> parcels;
    std::vector<transport::LocalCopy> forwarded;
};

/// Invariant: a message depends on receives of lower rounds only, because a parcel goes on in a
/// later round than it came. In a round a process sends one message at most and receives one.
struct Schedule {
    transport::Direction sends, receives;  // in the order of rounds
    transport::Chunks local;               // from this process to itself
    /// Strategies that forward: all messages lie in scratch memory of so many bytes, each at a
    /// place of its own; their cargo is copied there or from there.
    std::int64_t scratch = 0;
    std::vector<Cargo> outgoing, incoming;
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

/// What a message of so many bytes takes of the scratch memory.
constexpr std::int64_t scratch_bytes(std::int64_t message_bytes) {
    return (message_bytes + 63) / 64 * 64;
}
/// The messages of a plan whose strategy forwards. @throws LayoutError as Plan::steps does.
void add_relay(Schedule& schedule, const Plan& plan, const LocalView& source,
               const LocalView& destination);

/// The same from a bounded cache, keyed by value; `options` as for the plan, but with the strategy
/// named ("auto" is direct here): all processes must know it.
std::shared_ptr<const Schedule> cached_schedule(const Layout& source_layout,
                                                const Layout& destination_layout,
                                                const plan::Options& options,
                                                const LocalView& source,
                                                const LocalView& destination);

}  // namespace hocket::transfer
