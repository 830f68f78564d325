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

/// Elements of a box: one range a dimension.
std::int64_t volume(std::span<const Range> box);
/// What two boxes have in common: where that is nothing, ranges that end before they begin.
std::vector<Range> common_box(std::span<const Range> a, std::span<const Range> b);
/// Appends what of `box` lies outside `hole`, as boxes.
void add_outside(std::vector<Range> box, std::span<const Range> hole,
                 std::vector<std::vector<Range>>& out);

/// The row-major places [first, last) of an array of the given extents, as at most
/// 2*dimensions - 1 boxes (one range a dimension), in order.
std::vector<std::vector<Range>> boxes_of_interval(std::span<const std::int64_t> extents,
                                                  std::int64_t first, std::int64_t last);

}  // namespace hocket::layout
