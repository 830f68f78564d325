// SPDX-License-Identifier: BSD-3-Clause
// Rounds of the direct strategy's messages.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/colouring.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

/// In one round every process sends to at most one process and receives from at most one. With N
/// processes on the larger side, source process s sends to destination process d in turn (d - s)
/// mod N; empty turns are dropped. If fewer rounds are possible (the minimum is the largest number
/// of messages of a process), an edge colouring replaces the turns. Both visit every process: plans
/// of more than `limit` pairs of processes keep all N turns, and plans of more than `work` messages
/// times rounds keep their turns.
class DirectRounds {
  public:
    static constexpr std::int64_t limit = std::int64_t{1} << 22;
    static constexpr std::int64_t work = std::int64_t{1} << 26;

    explicit DirectRounds(const std::shared_ptr<const Problem>& problem);
    std::int64_t count() const;
    /// For a message that exists.
    std::int64_t round(std::int64_t source_rank, std::int64_t destination_rank) const;

  private:
    std::int64_t processes_;
    bool all_ = false;
    std::vector<std::int64_t> used_;  // turns, increasing
    Edges messages_, colours_;        // of each source process, if coloured
    std::int64_t coloured_ = 0;       // the number of rounds then
};

}  // namespace hocket::plan
