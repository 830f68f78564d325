// SPDX-License-Identifier: BSD-3-Clause
// How all tasks verify that they make the same collective call, and learn the layouts of each
// other's arrays: first each task by itself, then the lowest processes of all tasks.
#pragma once

#include <string>
#include <vector>

#include "comm/protocol.hpp"
#include "task/collectives.hpp"

namespace hocket::task {

/// One task's part in a collective call.
struct Contribution {
    std::string call;  // must be equal in all tasks
    comm::Fault fault;
    std::vector<ArrayDescriptor> descriptors, results;
    std::vector<std::string> offer;  // digests of layouts that every process of the task holds
};

/// The contributions of all tasks, in their order. @throws on every process of all tasks the error
/// of any process.
comm::Protocol<std::vector<Contribution>> gather_contributions(All all, Me me,
                                                               const Collective& call, int tree_tag,
                                                               int meeting_tag);

/// "reduce(float64 (4, 4), op='add', root='a')".
std::string text_of(const Tasks::State& all, const Collective& call);

}  // namespace hocket::task
