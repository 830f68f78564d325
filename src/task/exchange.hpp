// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives between tasks, as protocols that each process of both tasks runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/call.hpp"
#include "hocket/task.hpp"
#include "task/member.hpp"

namespace hocket::task {

/// A call under way, and what it will have found.
struct Pending {
    std::shared_ptr<Member> member;
    std::shared_ptr<std::optional<Status>> found;
    std::shared_ptr<comm::Call> call;
};

/// What is wrong with an array that one process brings to a verb of its task, if anything is.
comm::Fault fault_of(const Member& member, const Array& array, bool receiving);

/// A fault instead of an array: this process takes part only to make all of its task raise it.
struct Sending {
    std::optional<Array> array;
    int destination, tag;
    comm::Fault fault;
};
struct Receiving {
    std::optional<Array> array;
    int source, tag;  // -1: any
    comm::Fault fault;
    Deadline deadline;  // until a message is matched
};

std::shared_ptr<Pending> start_send(std::shared_ptr<Tasks::State> all,
                                    std::shared_ptr<Member> member, Sending sending);
std::shared_ptr<Pending> start_receive(std::shared_ptr<Tasks::State> all,
                                       std::shared_ptr<Member> member, Receiving receiving);
struct Probing {
    int source, tag;  // -1: any
    bool wait;        // false: what is there now, or nothing
    Deadline deadline;
    comm::Fault fault;
};
std::shared_ptr<Pending> start_probe(std::shared_ptr<Tasks::State> all,
                                     std::shared_ptr<Member> member, Probing probing);
/// The lowest process's number, on every process of the task.
std::int64_t decide(std::shared_ptr<Member> member, std::int64_t number, Deadline deadline);
/// The index of the first call that the lowest process finds done, on every process of the task.
/// @throws DeadlineError on every process.
std::int64_t first_done(std::shared_ptr<Member> member,
                        std::vector<std::shared_ptr<comm::Call>> calls, Deadline deadline);

}  // namespace hocket::task
