// SPDX-License-Identifier: BSD-3-Clause
// What the direct strategy costs as a whole: products over the dimensions where they are
// independent, else a walk over the parts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "plan/problem.hpp"

namespace hocket::plan {

/// Elements that leave their process, every copy counted.
std::int64_t count_moved(const Problem& problem);

/// Pairs of different processes that exchange at least one element.
std::int64_t count_messages(const std::shared_ptr<const Problem>& problem);

/// What one process exchanges with others, itself left out.
std::vector<Traffic> others_of(const std::shared_ptr<const Problem>& problem, Side side,
                               std::int64_t rank);

/// What the processes of a side exchange with others: `look(process, its others_of)`. Of
/// many (8192, fewer where each has many peers) some evenly spaced ones are looked at.
using VisitProcess = std::function<void(std::int64_t, std::span<const Traffic>)>;
void sample_processes(const std::shared_ptr<const Problem>& problem, Side side,
                      const VisitProcess& look);

}  // namespace hocket::plan
