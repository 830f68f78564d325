// SPDX-License-Identifier: BSD-3-Clause
// Converts an interval of row-major element numbers to boxes of indices.
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

/// The number of elements of a box: one range a dimension.
std::int64_t volume(std::span<const Range> box);
/// The intersection of two boxes; if it is empty, ranges end before they begin.
std::vector<Range> common_box(std::span<const Range> a, std::span<const Range> b);
/// Appends the part of `box` outside `hole`, as boxes.
void add_outside(std::vector<Range> box, std::span<const Range> hole,
                 std::vector<std::vector<Range>>& out);

/// The row-major elements [first, last) of an array with these extents, as at most 2*dimensions - 1
/// boxes (one range a dimension), in order.
std::vector<std::vector<Range>> boxes_of_interval(std::span<const std::int64_t> extents,
                                                  std::int64_t first, std::int64_t last);

}  // namespace hocket::layout
