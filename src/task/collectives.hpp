// SPDX-License-Identifier: BSD-3-Clause
// Calls that all tasks make together: each brings an array, laid out as it likes.
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
};

/// What is wrong with what this process brings, if anything is.
comm::Fault fault_of(const Member& me, const Collective& call);

/// All processes of all tasks agree on the call, or all raise; then the data move.
std::shared_ptr<Pending> start_collective(All all, Me me, Collective call);

}  // namespace hocket::task
