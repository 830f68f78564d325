// SPDX-License-Identifier: BSD-3-Clause
// The indices of one dimension that a process holds, as one period instead of a list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/checked.hpp"
#include "layout/interval.hpp"
#include "layout/partition.hpp"

namespace hocket::layout {

/// The distribution of one array dimension over one dimension of the processor arrangement. Index i
/// is at position `stride*i + offset` of a template. The template is distributed in blocks: the
/// owner has coordinate floor((stride*i + offset) / block) mod procs (HPF 1.0, section 3.3; BLOCK
/// has one round). With a partition, the partition gives the coordinate of each position (HPF 2.0,
/// section 8: GEN_BLOCK and INDIRECT). Template positions are never negative.
struct Axis {
    std::int64_t extent = 0;
    std::int64_t procs = 1;
    std::int64_t block = 1;
    std::int64_t stride = 1;
    std::int64_t offset = 0;
    int grid = -1;  ///< the dimension of the processor arrangement; -1: not distributed
    std::shared_ptr<const Partition> partition = nullptr;  ///< null: equal blocks

    std::int64_t position(std::int64_t index) const { return stride * index + offset; }
    std::int64_t owner(std::int64_t index) const;
    /// The indices at template positions [first, last).
    Run indices(base::wide first, base::wide last) const;
    friend bool operator==(const Axis&, const Axis&) = default;
};

/// A subset of [0, extent) that repeats with a period: the runs within one period, increasing and
/// disjoint. If the period is the extent, nothing repeats, and the runs are the whole set.
class IndexSet {
  public:
    IndexSet() = default;
    /// `runs` increasing, disjoint, not touching, within [0, min(period, extent)).
    IndexSet(std::int64_t extent, std::int64_t period, std::vector<Run> runs);

    std::int64_t extent() const { return extent_; }
    std::int64_t period() const { return period_; }
    std::int64_t per_period() const { return per_period_; }
    const std::vector<Run>& runs() const { return runs_; }
    bool repeats() const { return period_ < extent_; }

    std::int64_t count() const { return count_; }
    bool empty() const { return count_ == 0; }
    /// The number of its elements below `index`; for an element, its local index.
    std::int64_t count_below(std::int64_t index) const;
    /// The same, for a sequence of indices: looks at the run `hint` and the one after it first, and
    /// sets it.
    std::int64_t count_below(std::int64_t index, std::size_t& hint) const;
    bool contains(std::int64_t index) const;
    /// The element with `position` elements below it; 0 <= position < count().
    std::int64_t element(std::int64_t position) const;
    std::vector<std::int64_t> list() const;
    /// The first run (as an index of `runs()`) that ends after `offset` within a period.
    std::size_t first_run_after(std::int64_t offset) const;
    /// An upper bound on the runs in [first, last).
    std::int64_t runs_within(std::int64_t first, std::int64_t last) const;

    friend bool operator==(const IndexSet&, const IndexSet&) = default;

  private:
    std::int64_t extent_ = 0;
    std::int64_t period_ = 1;
    std::int64_t per_period_ = 0;
    std::int64_t count_ = 0;
    std::vector<Run> runs_;
    std::vector<std::int64_t> below_;  // elements of the period before each run; empty for one run
};

/// Calls `visit(first, last)` for every run of `set` that intersects [low, high), clipped to it.
template <class Visit>
void for_runs(const IndexSet& set, std::int64_t low, std::int64_t high, Visit&& visit) {
    const std::vector<Run>& runs = set.runs();
    if (runs.empty()) return;
    std::int64_t base = set.repeats() ? low / set.period() * set.period() : 0;
    std::size_t run = set.first_run_after(low - base);
    while (true) {
        if (run == runs.size()) {
            if (!set.repeats() || set.period() >= high - base) return;
            base += set.period();
            run = 0;
        }
        const std::int64_t first = base + runs[run].first;
        if (first >= high) return;
        visit(std::max(first, low), std::min(first + runs[run].length, high));
        ++run;
    }
}

/// The indices whose owner has a coordinate in [first, last).
IndexSet held_by(const Axis& axis, std::int64_t first, std::int64_t last);
inline IndexSet held_by(const Axis& axis, std::int64_t coordinate) {
    return held_by(axis, coordinate, coordinate + 1);
}

/// Every index of a dimension; the indices of a range.
IndexSet whole(std::int64_t extent);
IndexSet interval(const Range& range, std::int64_t extent);

}  // namespace hocket::layout
