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

/// The rounds of the direct strategy. With N processes on the larger side, source process s sends
/// to destination process d in turn (d - s) mod N, so that in one turn every process sends to one
/// process at most and receives from one at most, and no two aim at the same. Turns in which nobody
/// has anything to send are left out where there are at most `limit` pairs of processes; larger
/// plans keep all N, for finding the empty ones would take a look at every process.
class Turns {
  public:
    static constexpr std::int64_t limit = std::int64_t{1} << 22;

    explicit Turns(const std::shared_ptr<const Problem>& problem);
    std::int64_t count() const;
    std::int64_t round(std::int64_t source_rank, std::int64_t destination_rank) const;

  private:
    std::int64_t processes_;
    bool all_ = false;
    std::vector<std::int64_t> used_;  // increasing
};

/// Seconds of the slowest process by a linear model: `message` for each message it sends, or for
/// each it receives, and `byte` for each of their bytes, whichever sum is larger. Of
/// many processes (8192 a side, fewer where each has many peers) some evenly spaced ones are asked.
double predict_direct(const std::shared_ptr<const Problem>& problem, double message, double byte);

}  // namespace hocket::plan
