// SPDX-License-Identifier: BSD-3-Clause
// In which round of the direct strategy each message goes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/colouring.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

/// In one round every process sends to one process at most and receives from one at most. With N
/// processes on the larger side, source process s sends to destination process d in turn
/// (d - s) mod N; turns in which nobody has anything to send are left out. Where fewer rounds
/// would do (the least is the most messages that a process sends or receives), the messages are
/// coloured instead. Both need a look at every process: plans of more than `limit` pairs of
/// processes keep all N turns, and those of more than `work` messages times rounds their turns.
class DirectRounds {
  public:
    static constexpr std::int64_t limit = std::int64_t{1} << 22;
    static constexpr std::int64_t work = std::int64_t{1} << 26;

    explicit DirectRounds(const std::shared_ptr<const Problem>& problem);
    std::int64_t count() const;
    /// Of a message that there is.
    std::int64_t round(std::int64_t source_rank, std::int64_t destination_rank) const;

  private:
    std::int64_t processes_;
    bool all_ = false;
    std::vector<std::int64_t> used_;  // turns, increasing
    Edges messages_, colours_;        // where coloured: of each source process
    std::int64_t coloured_ = 0;       // rounds then
};

}  // namespace hocket::plan
