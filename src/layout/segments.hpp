// SPDX-License-Identifier: BSD-3-Clause
// Runs of the row-major flattened array and their owners: explicit segments, and listed elements.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "layout/box_index.hpp"
#include "layout/index_set.hpp"
#include "layout/lazy.hpp"

namespace hocket::layout {

/// One segment.
struct Segment {
    std::int64_t first;
    std::int64_t length;
    std::int64_t process;
    std::int64_t local;  ///< the local index of its first element
    std::int64_t last() const { return first + length; }
    friend bool operator==(const Segment&, const Segment&) = default;
};

/// Disjoint segments, in two orders. Look-ups are binary searches.
class SegmentTable {
  public:
    SegmentTable() = default;
    explicit SegmentTable(std::vector<Segment> segments);

    const std::vector<Segment>& all() const { return by_place_; }
    std::span<const Segment> of(std::int64_t process) const;
    /// The segments that intersect the elements [first, last).
    std::span<const Segment> within(std::int64_t first, std::int64_t last) const;

  private:
    std::vector<Segment> by_place_, by_process_;
};

class Segments {
  public:
    /// `lists[r]` are process r's segments in any order, which its local array holds in increasing
    /// order. With `listed`, they are the runs of its local array in order, and may be copies of
    /// other processes' elements. @throws LayoutError for runs that are negative or leave [0,
    /// elements), for segments that overlap, and for elements twice in one list.
    Segments(std::int64_t elements, const std::vector<std::vector<Run>>& lists, bool listed);

    std::int64_t size() const { return static_cast<std::int64_t>(sets_.size()); }
    bool listed() const { return listed_; }
    /// One process's elements.
    const IndexSet& set(std::int64_t process) const {
        return sets_[static_cast<std::size_t>(process)];
    }
    /// One process's segments: sorted by element, and in the order of its local array.
    std::span<const Segment> of(std::int64_t process) const;
    std::vector<Segment> in_order(std::int64_t process) const;
    /// The local index of an element that the process holds.
    std::int64_t local(std::int64_t process, std::int64_t place) const;

    /// Visits all segments that intersect the elements [first, last), in any order, until `visit`
    /// returns false.
    template <class Visit>
    void for_intersecting(std::int64_t first, std::int64_t last, Visit&& visit) const {
        if (first >= last) return;
        if (copies_) {
            const Range range{first, last};
            index_.for_intersecting({&range, 1}, [&](std::int64_t k) {
                return visit(held_[static_cast<std::size_t>(k)]);
            });
            return;
        }
        for (const Segment& segment : disjoint_.within(first, last))
            if (!visit(segment)) return;
    }
    /// One sender for each element that has an owner.
    const SegmentTable& sent() const;

    bool copies() const { return copies_; }
    /// Elements that processes hold, copies counted.
    std::int64_t total() const { return total_; }
    /// Runs without owner, increasing and disjoint.
    const std::vector<Run>& gaps() const { return gaps_; }
    /// The first element of [first, last) without owner. Takes a binary search.
    std::optional<std::int64_t> gap(std::int64_t first, std::int64_t last) const;

  private:
    bool listed_ = false, copies_ = false;
    std::vector<IndexSet> sets_;
    std::vector<Segment> held_;  // by process, then element; empty if there are no copies
    BoxIndex index_;             // of held_
    SegmentTable disjoint_;      // if there are no copies
    Lazy<SegmentTable> sent_;
    std::vector<Run> gaps_;
    std::int64_t total_ = 0;
};

}  // namespace hocket::layout
