// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives between tasks, as protocols that each process of both tasks runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/call.hpp"
#include "comm/deferred_call.hpp"
#include "hocket/task.hpp"
#include "task/member.hpp"
#include "task/pieces.hpp"
#include "task/rendezvous.hpp"

namespace hocket::task {

class Persistent;  // src/task/persistent.hpp

/// A call under way, and what it will have found.
struct Pending {
    std::shared_ptr<Member> member;
    std::shared_ptr<std::optional<Status>> found;
    std::shared_ptr<comm::Activity> call;
    std::shared_ptr<Persistent> persistent = nullptr;  // none: an ordinary call
    std::shared_ptr<bool> given_up = nullptr;          // of a receive whose caller was interrupted
    std::shared_ptr<comm::DeferredCall> later = nullptr;  // none: it has begun
    std::shared_ptr<Progress> progress = nullptr;         // of an ordinary send or receive
};

/// Waits for a call's end. @throws what it threw; DeadlineError.
Status finish(Pending& pending, const Deadline& deadline);

/// How a send or receive is cut, once the two sides have met. @throws likewise, and Error for a
/// persistent request.
Cut cut_of(Pending& pending, const Deadline& deadline);
/// Waits until so many pieces are done on this process. @throws likewise.
void wait_for(Pending& pending, std::int64_t pieces, const Deadline& deadline);

/// The same for a blocking call: a wait that ends before its operation does (a deadline, an
/// interrupt) leaves the two tasks out of step. `other` < 0: any task was meant, no pair breaks.
Status finish_or_break(Pending& pending, const Deadline& deadline, int other);
/// The lowest process watches the caller's deadline where a message is matched, and tells the
/// others; a while later they stop waiting for its word.
Deadline with_grace(const Deadline& deadline);

/// What is wrong with an array that one process brings to a verb of its task, if anything is.
comm::Fault fault_of(const Member& member, const Array& array, bool receiving);

/// `arrays`: whose forms `sending` has; none where that is a fault.
std::shared_ptr<Pending> start_send(std::shared_ptr<Tasks::State> all,
                                    std::shared_ptr<Member> member, SendCall sending,
                                    std::vector<Array> arrays);
std::shared_ptr<Pending> start_receive(std::shared_ptr<Tasks::State> all,
                                       std::shared_ptr<Member> member, ReceiveCall receiving,
                                       std::vector<Array> arrays);
struct ProbeCall {
    int source, tag;  // -1: any
    bool wait;        // false: what is there now, or nothing
    Deadline deadline;
    comm::Fault fault;
};
std::shared_ptr<Pending> start_probe(std::shared_ptr<Tasks::State> all,
                                     std::shared_ptr<Member> member, ProbeCall probing);

}  // namespace hocket::task
