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
    /// Where each peer's elements begin within what the two have in common; empty: at 0, and they
    /// are all of it.
    std::vector<std::int64_t> begins;
    /// Where a side is indexed: what each peer and this process have in common. Copies of the
    /// source share one list.
    std::vector<std::shared_ptr<const std::vector<CommonBox>>> pieces;
};

/// Works out one process's part. @throws LayoutError if there is no such process.
std::shared_ptr<const Part::Data> make_part(const std::shared_ptr<const Problem>& problem,
                                            Side side, std::int64_t rank);

/// What a process and each of the other side both hold, whoever sends it; zeros left out.
std::vector<Traffic> common_with(const Problem& problem, Side side, std::int64_t rank);

}  // namespace hocket::plan
