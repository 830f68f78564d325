// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives between tasks, as protocols that each process of both tasks executes.
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

/// A call under way, and its status once found.
struct Pending {
    std::shared_ptr<Member> member;
    std::shared_ptr<std::optional<Status>> found;
    std::shared_ptr<comm::Activity> call;
    std::shared_ptr<Persistent> persistent = nullptr;     // none: an ordinary call
    std::shared_ptr<bool> given_up = nullptr;             // set if the caller of a receive was
                                                          // interrupted
    std::shared_ptr<comm::DeferredCall> later = nullptr;  // none: it has begun
    // Of an ordinary send or receive of one array: its pieces, once both sides have matched.
    std::shared_ptr<std::optional<Cut>> pieces = nullptr;
};

/// Waits for the end of a call. @throws its error; DeadlineError.
Status finish(Pending& pending, const Deadline& deadline);

/// The division of a send or receive into pieces, once both sides have matched. @throws as
/// `finish`; Error for a persistent request.
Cut cut_of(Pending& pending, const Deadline& deadline);
/// Waits until `pieces` pieces are complete on this process. @throws as `finish`.
void wait_for(Pending& pending, std::int64_t pieces, const Deadline& deadline);

/// As `finish`, for a blocking call: if the wait ends before the operation (a deadline, an
/// interrupt), the two tasks are out of step, and their pair is broken. `other` < 0: a wildcard,
/// which breaks no pair.
Status finish_or_break(Pending& pending, const Deadline& deadline, int other);
/// While a message is matched, the lowest process watches the caller's deadline and informs the
/// others; they stop waiting for it a while later.
Deadline with_grace(const Deadline& deadline);

/// The error of an array that one process passes to a verb of its task, if there is one.
comm::Fault fault_of(const Member& member, const Array& array, bool receiving);

/// A send or a receive, which has descriptors for `arrays`; no arrays if it has a fault.
std::shared_ptr<Pending> start_message(All all, Me me, MessageCall call, std::vector<Array> arrays);
/// `wait`: false: looks once.
std::shared_ptr<Pending> start_probe(All all, Me me, MessageCall probing, bool wait);

}  // namespace hocket::task
