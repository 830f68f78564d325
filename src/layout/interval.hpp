// SPDX-License-Identifier: BSD-3-Clause
// An interval of a row-major numbering as boxes of the indices behind it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hocket::layout {

/// Indices [first, last).
struct Range {
    std::int64_t first;
    std::int64_t last;
    friend bool operator==(const Range&, const Range&) = default;
};

/// The row-major places [first, last) of an array of the given extents, as at most
/// 2*dimensions - 1 boxes (one range a dimension), in order.
std::vector<std::vector<Range>> boxes_of_interval(std::span<const std::int64_t> extents,
                                                  std::int64_t first, std::int64_t last);

}  // namespace hocket::layout
