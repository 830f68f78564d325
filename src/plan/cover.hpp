// SPDX-License-Identifier: BSD-3-Clause
// Checks that a source holds all elements that its destination needs.
#pragma once

#include "plan/problem.hpp"

namespace hocket::plan {

/// Whether some element may have no owner in this source.
bool may_have_gaps(const Layout& source);

/// Every element of the destination must have an owner in the source, whose segments may have gaps.
/// @throws LayoutError that names the first missing element in the destination's row-major order.
/// Time grows with segments and gaps, and with elements only if gaps are scattered across the
/// destination's part.
void check_cover(const Problem& problem);

}  // namespace hocket::plan
