// SPDX-License-Identifier: BSD-3-Clause
// Senders for a source with copies: each element is sent once, and the copies share evenly.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "layout/form.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

/// The source processes with the same elements, and the pieces of these that destination processes
/// take. The pieces, end to end in the order of destination processes, are divided into equal
/// ranges, one for each copy; copy j sends range j. So no copy sends more than one element above
/// its even share, few pieces are divided, and both sides find their own part without the others'.
/// A destination process that is itself a copy takes its piece from itself, and is left out of the
/// sequence.
class ReplicaShares {
  public:
    /// `at`: coordinates of any of the copies.
    ReplicaShares(const Problem& problem, const Shape& at);

    std::int64_t copies() const { return copies_; }
    /// Number of elements before the piece of the destination process at that position of its
    /// arrangement.
    std::int64_t before(std::int64_t position) const;
    /// The first element of the range of copy j; for copies(): the end of the last.
    std::int64_t share_begin(std::int64_t copy) const;
    /// The copies whose ranges intersect [first, last).
    std::pair<std::int64_t, std::int64_t> copies_of(std::int64_t first, std::int64_t last) const;
    /// True if the destination process at that position is itself a copy.
    bool serves_itself(std::int64_t position) const;

  private:
    std::int64_t piece(std::int64_t position) const;
    std::int64_t all_before(std::int64_t position) const;
    void count_each();
    /// For a destination that is no grid: the count of the first process at or after `position`.
    std::vector<std::pair<std::int64_t, std::int64_t>>::const_iterator at(
        std::int64_t position) const;

    const Problem& problem_;
    std::int64_t copies_;
    std::vector<layout::IndexSet> sets_;
    std::vector<std::int64_t> self_;  // positions of destination processes that are copies
    /// For a destination that is no grid: (process, its count and those of earlier processes).
    std::vector<std::pair<std::int64_t, std::int64_t>> sums_;
    std::int64_t total_ = 0;  // number of elements in all ranges
};

}  // namespace hocket::plan
