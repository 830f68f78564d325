// SPDX-License-Identifier: BSD-3-Clause
// One box of indices for each process: bricks, with gaps and overlaps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/layout.hpp"
#include "layout/box_index.hpp"
#include "layout/index_set.hpp"
#include "layout/lazy.hpp"

namespace hocket::layout {

/// The box of one process. `none`: it holds nothing, whatever the ranges; without dimensions,
/// ranges could not express that.
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
    /// One box for each process, each within the shape.
    Boxes(const Shape& shape, std::vector<ProcessBox> boxes);
    /// The same of the listed processes, by increasing number; the others hold nothing.
    Boxes(const Shape& shape, std::vector<std::int64_t> processes, std::vector<ProcessBox> boxes);

    const ProcessBox& box(std::int64_t process) const {
        if (!listed_) return boxes_[static_cast<std::size_t>(process)];
        const auto at = std::lower_bound(processes_.begin(), processes_.end(), process);
        const bool found = at != processes_.end() && *at == process;
        return found ? boxes_[static_cast<std::size_t>(at - processes_.begin())] : nothing_;
    }
    /// The processes with a box, empty ones included.
    std::vector<std::int64_t> processes() const;
    /// The non-empty boxes.
    const BoxIndex& held() const { return held_; }
    /// Disjoint boxes that cover the held elements, each with the process that sends it.
    const BoxIndex& sent() const;
    bool overlap() const { return overlap_; }
    /// Number of elements of all boxes, copies counted.
    std::int64_t total() const { return total_; }

  private:
    void count();

    bool listed_ = false;
    std::vector<std::int64_t> processes_;  // of each box, where they are listed
    std::vector<ProcessBox> boxes_;
    ProcessBox nothing_;
    BoxIndex held_;
    Lazy<BoxIndex> sent_;  // if boxes overlap
    bool overlap_ = false;
    std::int64_t total_ = 0;
};

/// Checks the boxes of a call. @throws LayoutError for boxes that leave the shape, or stop before
/// they start.
std::vector<ProcessBox> checked_boxes(const Shape& shape, std::span<const IndexBox> boxes);

}  // namespace hocket::layout
