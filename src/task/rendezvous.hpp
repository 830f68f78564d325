// SPDX-License-Identifier: BSD-3-Clause
// Rendezvous of a send of one task and a receive of another: they exchange descriptors before data.
// Every process of both tasks executes its side, and all get the same answer.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/deferred_call.hpp"
#include "comm/protocol.hpp"
#include "task/member.hpp"
#include "task/reply.hpp"
#include "transfer/stopwatch.hpp"

namespace hocket::task {

/// A send, a receive or a probe. With a fault instead of descriptors, this process takes part only
/// to make all processes of its task raise it.
struct MessageCall {
    bool sends;
    std::vector<ArrayDescriptor> descriptors;
    int other, tag;  // of a receive or a probe, -1: any
    comm::Fault fault;
    std::string stream = {};
    RequestedOptions requested = {};
    bool once = false;                                // persistent, with a single start
    std::shared_ptr<comm::StartGate> gate = nullptr;  // none: begins at once
    std::int64_t channel = 0;  // of a channel: its number in its stream, from 1 on
    bool abandoned = false;    // the call itself is correct, so the other side waits for it
    // Of a send:
    std::int64_t persistent_id = 0;  // as in the envelope
    bool end = false;                // no arrays: the receiver gets EndOfStream
    std::shared_ptr<const std::string> elements = nullptr;  // as in the envelope
    // Of a receive or a probe:
    Deadline deadline = {};                          // until a message is matched
    std::shared_ptr<const bool> given_up = nullptr;  // true: the waiting call was interrupted

    const char* direction() const { return sends ? "to" : "from"; }
};

/// Returns the other side's description of the message. @throws on every process of the task any
/// process's error, and the other side's; no element has moved then. DeadlineError. `watch` adds
/// the descriptor step.
Protocol<Envelope> rendezvous(All all, Me me, MessageCall call, int tree_tag, std::int64_t ticket,
                              transfer::Stopwatch& watch);

/// The track of a send or a receive.
trace::Track track_of(const std::string& verb, const Tasks::State& all, const MessageCall& call,
                      std::span<const Array> arrays);

}  // namespace hocket::task
