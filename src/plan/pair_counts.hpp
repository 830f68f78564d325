// SPDX-License-Identifier: BSD-3-Clause
// The common elements of single pairs of processes of two grids.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/problem.hpp"

namespace hocket::plan {

/// Keeps the index sets of both sides' coordinates, and counts that are asked for again.
class PairCounts {
  public:
    explicit PairCounts(const Problem& problem);
    std::int64_t of(std::int64_t source, std::int64_t destination);

  private:
    struct Dimension {
        std::vector<layout::IndexSet> source, destination;  // of the coordinates
        std::vector<std::int64_t> counts;  // of pairs, -1: not known; empty: too many
    };
    std::vector<Dimension> dimensions_;
    std::vector<std::int64_t> source_, destination_;  // coordinates of processes, -1: none
};

}  // namespace hocket::plan
