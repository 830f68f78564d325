// SPDX-License-Identifier: BSD-3-Clause
// Collective calls of all tasks; each task has its own layout.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "task/exchange.hpp"

namespace hocket::task {

struct Collective {
    enum class Kind { barrier, bcast, reduce, allreduce, gather };
    Kind kind = Kind::barrier;
    std::optional<Array> array;  // none: a barrier
    std::vector<Array> results;  // reduce: on the root; allreduce: everywhere; gather: one a task
    int root = 0;
    std::string op;
    comm::Fault fault;
    bool out_of_step = false;  // the fault: an earlier call of this task has ended early
    Deadline deadline = {};
    // True: the wait for this call has ended before it.
    std::shared_ptr<bool> given_up = nullptr;
};

/// The error of this process's arguments, if there is one.
comm::Fault fault_of(const Member& me, const Collective& call);

/// All processes of all tasks agree on the call, or all raise an error; then data moves.
std::shared_ptr<Pending> start_collective(All all, Me me, Collective call);

}  // namespace hocket::task
