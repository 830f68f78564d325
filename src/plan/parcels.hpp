// SPDX-License-Identifier: BSD-3-Clause
// The elements that every source process has for every destination process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/problem.hpp"

namespace hocket::plan {

/// All parcels of a plan, by source, then destination, without elements that stay on their process.
/// Nothing if there are more than `most`. Between two grids, processes with a coordinate in common
/// share its intersections, so that the time grows with parcels.
std::optional<std::vector<Parcel>> parcels_up_to(const std::shared_ptr<const Problem>& problem,
                                                 std::int64_t most);

}  // namespace hocket::plan
