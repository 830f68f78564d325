// SPDX-License-Identifier: BSD-3-Clause
// Totals of the direct strategy: products over independent dimensions, else a walk over the parts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "plan/problem.hpp"

namespace hocket::plan {

/// Elements that leave their process, counting every copy.
std::int64_t count_moved(const Problem& problem);

/// Pairs of different processes that exchange at least one element.
std::int64_t count_messages(const std::shared_ptr<const Problem>& problem);

/// The traffic of one process with others, without itself.
std::vector<Traffic> others_of(const std::shared_ptr<const Problem>& problem, Side side,
                               std::int64_t rank);

/// Calls `look(process, its others_of)` for the processes of a side. Of many processes (8192, fewer
/// if each has many peers) it visits some evenly spaced ones.
using VisitProcess = std::function<void(std::int64_t, std::span<const Traffic>)>;
void sample_processes(const std::shared_ptr<const Problem>& problem, Side side,
                      const VisitProcess& look);

}  // namespace hocket::plan
