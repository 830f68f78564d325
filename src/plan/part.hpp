// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hocket/plan.hpp"
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
};

/// Works out one process's part. @throws LayoutError if there is no such process.
std::shared_ptr<const Part::Data> make_part(std::shared_ptr<const Problem> problem, Side side,
                                            std::int64_t rank);

/// The boxes of the elements number [first, last) of what two processes have in common.
std::vector<Box> make_boxes(const Problem& problem, std::int64_t source_rank,
                            std::int64_t destination_rank, std::int64_t first, std::int64_t last);

}  // namespace hocket::plan
