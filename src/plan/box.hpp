// SPDX-License-Identifier: BSD-3-Clause
// Converts the intersection of two processes' index sets to boxes in their local arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "hocket/plan.hpp"
#include "plan/common_boxes.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

/// The number of elements of a box.
std::int64_t count(const Box& box);

/// Whether the loops have equal steps in equal dimensions, on both sides; extents may differ.
bool same_step(const Loop& a, const Loop& b);

/// The boxes of all common elements of two processes; `pieces` if a side is indexed.
std::vector<Box> make_boxes(const Problem& problem, std::int64_t source_rank,
                            std::int64_t destination_rank, const std::vector<CommonBox>* pieces);

/// Elements number first to last - 1 of a list of boxes, in the order of their loops.
std::vector<Box> slice(const std::vector<Box>& boxes, std::int64_t first, std::int64_t last);

}  // namespace hocket::plan
