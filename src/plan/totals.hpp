// SPDX-License-Identifier: BSD-3-Clause
// What the direct strategy costs as a whole: products over the dimensions where they are
// independent, else a walk over the parts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "plan/problem.hpp"

namespace hocket::plan {

/// Elements that leave their process, every copy counted.
std::int64_t count_moved(const Problem& problem);

/// Pairs of different processes that exchange at least one element.
std::int64_t count_messages(const std::shared_ptr<const Problem>& problem);

/// Seconds of the slowest process: the sum of `cost(source process, destination process, elements)`
/// over the messages it sends, or over those it receives, whichever is larger. Of many processes
/// (8192 a side, fewer where each has many peers) some evenly spaced ones are asked.
using Cost = std::function<double(std::int64_t, std::int64_t, std::int64_t)>;
double predict_direct(const std::shared_ptr<const Problem>& problem, const Cost& cost);

}  // namespace hocket::plan
