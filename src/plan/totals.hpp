// SPDX-License-Identifier: BSD-3-Clause
// Totals of the direct strategy: products over independent dimensions, else a walk over the parts.
#pragma once

#include <cstdint>
#include <memory>

#include "plan/problem.hpp"

namespace hocket::plan {

/// Elements that leave their process, counting every copy.
std::int64_t count_moved(const Problem& problem);

/// Pairs of different processes that exchange at least one element.
std::int64_t count_messages(const std::shared_ptr<const Problem>& problem);

}  // namespace hocket::plan
