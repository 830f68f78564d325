// SPDX-License-Identifier: BSD-3-Clause
// Sums of floating-point numbers and of their products over the elements of arrays: exact, rounded
// once.
#pragma once

#include <optional>
#include <vector>

#include "array/local.hpp"

namespace hocket::array {

/// The sums over some dimensions, in the layout without them. Takes no more memory beside the
/// arrays than `within_buffers`. Collective.
Array exact_sum(const Array& array, const std::vector<std::size_t>& dims, Deadline deadline);

/// The sum of all elements, or of all products with those of `b`, which has the layout of `a`; of
/// shape (), on every process. Conjugates complex numbers of `a` in products. Collective.
Array exact_total(const Array& a, const std::optional<Array>& b, Deadline deadline);

}  // namespace hocket::array
