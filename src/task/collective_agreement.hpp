// SPDX-License-Identifier: BSD-3-Clause
// How all tasks find out that they make the same collective call, and how each has laid out its
// arrays: each task by itself, then their lowest processes with each other.
#pragma once

#include <string>
#include <vector>

#include "comm/protocol.hpp"
#include "task/collectives.hpp"

namespace hocket::task {

/// What one task brings to a collective call.
struct Contribution {
    std::string call;  // what must be the same in all tasks
    comm::Fault fault;
    std::vector<ArrayDescriptor> descriptors, results;
};

/// Of every task, in their order. @throws on every process of all tasks what is wrong on any.
comm::Protocol<std::vector<Contribution>> gather_contributions(All all, Me me,
                                                               const Collective& call, int tree_tag,
                                                               int meeting_tag);

/// "reduce(float64 (4, 4), op='add', root='a')".
std::string text_of(const Tasks::State& all, const Collective& call);

}  // namespace hocket::task
