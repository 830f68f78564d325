// SPDX-License-Identifier: BSD-3-Clause
// The messages of multistage between many processes, from classes of equal pairs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/problem.hpp"

namespace hocket::plan {

/// As in routes.cpp, the larger side sends. In phase k, process x sends to process x + 2^k.
struct ButterflyLoads {
    std::vector<std::vector<std::int64_t>> sent;  ///< elements, of each phase and process
    /// For each process of the smaller side: its elements, and those that begin at its home.
    std::vector<std::int64_t> all, own;
};

/// Exact. Nothing unless both sides are grids, the source has no copies, the sides share no
/// processes or have the same ones, and classes are so few that it takes some milliseconds.
std::optional<ButterflyLoads> butterfly_loads(const Problem& problem);

}  // namespace hocket::plan
