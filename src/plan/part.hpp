// SPDX-License-Identifier: BSD-3-Clause
// One process's part of a plan.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hocket/plan.hpp"
#include "plan/common_boxes.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

struct Part::Data {
    std::shared_ptr<const Problem> problem;
    Side side = Side::source;
    std::int64_t rank = 0;
    std::vector<Traffic> peers;
    /// For each peer, the number of its first element within the common elements of the two; empty:
    /// all begin at 0 and are complete.
    std::vector<std::int64_t> begins;
    /// If a side is indexed: the common elements with each peer. Copies of the source share one
    /// list.
    std::vector<std::shared_ptr<const std::vector<CommonBox>>> pieces;
};

/// Computes one process's part. @throws LayoutError if there is no such process.
std::shared_ptr<const Part::Data> make_part(const std::shared_ptr<const Problem>& problem,
                                            Side side, std::int64_t rank);

/// The numbers of elements that a process and each process of the other side both hold, without
/// zeros; includes all copies.
std::vector<Traffic> common_with(const Problem& problem, Side side, std::int64_t rank);

}  // namespace hocket::plan
