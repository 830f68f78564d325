// SPDX-License-Identifier: BSD-3-Clause
// Whether a source holds all that its destination wants.
#pragma once

#include "plan/problem.hpp"

namespace hocket::plan {

/// Every element that the destination holds must be held by the source, whose segments may have
/// gaps. @throws LayoutError that names the first missing one in the destination's row-major order.
/// Costs by segments and gaps, and by elements only where gaps lie scattered across what is wanted.
void check_cover(const Problem& problem);

}  // namespace hocket::plan
