// SPDX-License-Identifier: BSD-3-Clause
// What the direct strategy costs as a whole: products over the dimensions where they are
// independent, else a walk over the parts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/problem.hpp"

namespace hocket::plan {

/// Elements that leave their process, every copy counted.
std::int64_t count_moved(const Problem& problem);

/// Pairs of different processes that exchange at least one element.
std::int64_t count_messages(const std::shared_ptr<const Problem>& problem);

/// Seconds of the slowest process by a linear model: `message` for each message it sends, or for
/// each it receives, and `byte` for each of their bytes, whichever sum is larger. Of
/// many processes (8192 a side, fewer where each has many peers) some evenly spaced ones are asked.
double predict_direct(const std::shared_ptr<const Problem>& problem, double message, double byte);

}  // namespace hocket::plan
