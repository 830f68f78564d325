// SPDX-License-Identifier: BSD-3-Clause
// Rendezvous of a send of one task and a receive of another: they exchange descriptors before data.
// Every process of both tasks executes its side, and all get the same answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/deferred_call.hpp"
#include "comm/protocol.hpp"
#include "task/member.hpp"
#include "task/reply.hpp"
#include "transfer/stopwatch.hpp"

namespace hocket::task {

/// With a fault instead of descriptors, this process takes part only to make all processes of its
/// task raise it.
struct SendCall {
    std::vector<ArrayDescriptor> descriptors;
    int destination, tag;
    comm::Fault fault;
    std::string stream;
    std::int64_t persistent_id = 0;  // as in the envelope
    bool once = false;
    bool end = false;                                 // no arrays: the receiver gets EndOfStream
    std::shared_ptr<comm::StartGate> gate = nullptr;  // none: begins at once
    bool abandoned = false;  // the call itself is correct, so the other side waits for it
    RequestedOptions requested = {};
};
struct ReceiveCall {
    std::vector<ArrayDescriptor> descriptors;
    int source, tag;  // -1: any
    comm::Fault fault;
    Deadline deadline;  // until a message is matched
    std::string stream;
    bool once = false;
    std::shared_ptr<const bool> given_up{};  // true: the waiting call was interrupted
    std::shared_ptr<comm::StartGate> gate = nullptr;
    bool abandoned = false;
    RequestedOptions requested = {};
};

/// `other` of the answer is the receiver's description. @throws on every process of the task any
/// process's error, and the other side's; no element has moved then. `watch` adds the descriptor
/// step.
Protocol<Reply> rendezvous(All all, Me me, SendCall sending, int tree_tag, std::int64_t ticket,
                           transfer::Stopwatch& watch);
/// `other` is the sender's description. @throws as above, and DeadlineError.
Protocol<Reply> rendezvous(All all, Me me, ReceiveCall receiving, int tree_tag, std::int64_t ticket,
                           transfer::Stopwatch& watch);

}  // namespace hocket::task
