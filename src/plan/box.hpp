// SPDX-License-Identifier: BSD-3-Clause
// From what two processes have in common to boxes in their local arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "hocket/plan.hpp"
#include "plan/common_boxes.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

/// Elements of a box.
std::int64_t count(const Box& box);

/// Whether they go by the same step in the same dimension, on both sides, however often.
bool same_step(const Loop& a, const Loop& b);

/// The boxes of all that two processes have in common; `pieces` where a side is indexed.
std::vector<Box> make_boxes(const Problem& problem, std::int64_t source_rank,
                            std::int64_t destination_rank, const std::vector<CommonBox>* pieces);

/// The elements number [first, last) of a list of boxes, in the order of their loops.
std::vector<Box> slice(const std::vector<Box>& boxes, std::int64_t first, std::int64_t last);

}  // namespace hocket::plan
