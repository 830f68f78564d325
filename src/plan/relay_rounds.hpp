// SPDX-License-Identifier: BSD-3-Clause
// The rounds of strategies with relays where each process finds its own messages.
#pragma once

#include <cstdint>
#include <vector>

#include "base/checked.hpp"
#include "plan/routes.hpp"

namespace hocket::plan {

/// Strategies as in routes.cpp: the larger side (`n` processes) sends and the smaller one (`m`)
/// receives. If it is the other way round, messages and rounds are reversed at the end.
struct RelayRounds {
    RelayRounds(const Problem& problem, Strategy strategy, std::int64_t stages);

    /// The first process for which a stager of a block collects.
    std::int64_t head(std::int64_t c) const { return base::ceil_div(c * m, count); }

    /// Within its phase, for the larger side as the sender.
    std::int64_t round(std::int64_t phase, std::int64_t from, std::int64_t to) const;

    bool backwards;
    Relay relay;
    std::int64_t n, m, count, levels;
    std::vector<std::int64_t> starts;  // the first round of each phase
    std::int64_t all_rounds = 0;

  private:
    /// Phases of so many rounds, one after the other.
    void start(const std::vector<std::int64_t>& rounds);
    /// Direct messages and those within groups have the first rounds together, unless a process of
    /// a group is also on the smaller side. Then the groups send across, one after the other.
    void start_hybrid(const Problem& problem);
};

}  // namespace hocket::plan
