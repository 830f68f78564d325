// SPDX-License-Identifier: BSD-3-Clause
// One box of indices a process: bricks, with gaps and overlaps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/layout.hpp"
#include "layout/box_index.hpp"
#include "layout/index_set.hpp"
#include "layout/lazy.hpp"

namespace hocket::layout {

/// The box of one process; `none`: it holds nothing, whatever the ranges (which, without
/// dimensions, could not say so).
struct ProcessBox {
    std::vector<Range> ranges;
    bool none = false;

    bool empty() const;
    friend bool operator==(const ProcessBox&, const ProcessBox&) = default;
};

inline ProcessBox no_box(std::size_t dimensions) {
    return {std::vector<Range>(dimensions, Range{0, 0}), true};
}

class Boxes {
  public:
    /// One box a process, each within the shape.
    Boxes(const Shape& shape, std::vector<ProcessBox> boxes);

    std::int64_t size() const { return static_cast<std::int64_t>(boxes_.size()); }
    const ProcessBox& box(std::int64_t process) const {
        return boxes_[static_cast<std::size_t>(process)];
    }
    const std::vector<ProcessBox>& all() const { return boxes_; }
    /// The boxes that hold anything.
    const BoxIndex& held() const { return held_; }
    /// Disjoint boxes that cover what is held, each of the process that sends it.
    const BoxIndex& sent() const;
    bool overlap() const { return overlap_; }
    /// Elements of all boxes, copies counted.
    std::int64_t total() const { return total_; }

  private:
    std::vector<ProcessBox> boxes_;
    BoxIndex held_;
    Lazy<BoxIndex> sent_;  // where boxes overlap
    bool overlap_ = false;
    std::int64_t total_ = 0;
};

/// The boxes of a call, checked. @throws LayoutError for boxes that leave the shape, or stop before
/// they start.
std::vector<ProcessBox> checked_boxes(const Shape& shape, std::span<const IndexBox> boxes);

}  // namespace hocket::layout
