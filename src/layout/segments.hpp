// SPDX-License-Identifier: BSD-3-Clause
// Explicit segments: who holds which runs of the row-major flattened array.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "layout/index_set.hpp"

namespace hocket::layout {

/// One segment, found by its place in the array.
struct Segment {
    std::int64_t first;
    std::int64_t length;
    std::int64_t process;
    std::int64_t local;  ///< where its first element lies in the process's local array
};

class Segments {
  public:
    /// `lists[r]` are process r's segments in any order. @throws LayoutError for segments that are
    /// negative, leave [0, elements), or overlap, naming them.
    Segments(std::int64_t elements, const std::vector<std::vector<Run>>& lists);

    std::int64_t size() const { return static_cast<std::int64_t>(sets_.size()); }
    /// One process's places; touching segments have become one.
    const IndexSet& set(std::int64_t process) const {
        return sets_[static_cast<std::size_t>(process)];
    }
    /// All segments in the order of the array.
    const std::vector<Segment>& all() const { return all_; }
    /// Those that meet the places [first, last).
    std::span<const Segment> within(std::int64_t first, std::int64_t last) const;
    /// Elements that somebody holds.
    std::int64_t held() const { return held_; }
    /// Stretches that nobody holds, increasing and apart.
    const std::vector<Run>& gaps() const { return gaps_; }
    /// The first place of [first, last) that nobody holds. Costs a binary search.
    std::optional<std::int64_t> gap(std::int64_t first, std::int64_t last) const;

  private:
    std::vector<IndexSet> sets_;
    std::vector<Segment> all_;
    std::vector<Run> gaps_;
    std::int64_t held_ = 0;
};

}  // namespace hocket::layout
