// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives between tasks, as protocols that each process of both tasks runs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "comm/call.hpp"
#include "hocket/task.hpp"
#include "task/member.hpp"

namespace hocket::task {

/// A call under way, and what it will have found.
struct Pending {
    std::shared_ptr<Member> member;
    std::shared_ptr<std::optional<Status>> found;
    std::shared_ptr<comm::Call> call;
    bool finished = false;  // its status was handed out
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
/// `wait` false: what is there now, or nothing.
std::shared_ptr<Pending> start_probe(std::shared_ptr<Tasks::State> all,
                                     std::shared_ptr<Member> member, int source, int tag, bool wait,
                                     Deadline deadline);
/// The lowest process's number, on every process of the task.
std::int64_t decide(std::shared_ptr<Member> member, std::int64_t number, Deadline deadline);

}  // namespace hocket::task
