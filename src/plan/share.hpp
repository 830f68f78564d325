// SPDX-License-Identifier: BSD-3-Clause
// Which coordinates of another layout's dimension hold something of an index set, and how much.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/index_set.hpp"

namespace hocket::plan {

struct Share {
    std::int64_t coordinate;
    std::int64_t count;
};

/// Increasing, zeros left out. Costs by coordinates found and periods, not by processes.
std::vector<Share> shares(const layout::IndexSet& own, const layout::Axis& peer);

/// How many entries `shares` has, without listing them where a formula says.
std::int64_t count_shares(const layout::IndexSet& own, const layout::Axis& peer);

}  // namespace hocket::plan
