// SPDX-License-Identifier: BSD-3-Clause
// Who sends what where the source holds copies: each element once, the copies sharing evenly.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "layout/form.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

/// The source processes that hold the same elements, and the pieces of these that destination
/// processes take. The pieces, laid end to end in the order of destination processes, are cut into
/// as many equal stretches as there are copies; copy j sends stretch j. So no copy carries more
/// than one element above its even share, a piece is seldom cut, and both sides find their own
/// part without the others'. A destination process that is itself one of the copies takes its
/// piece from itself, and the others are laid end to end without it.
class ReplicaShares {
  public:
    /// `at`: coordinates of any of the copies.
    ReplicaShares(const Problem& problem, const Shape& at);

    std::int64_t copies() const { return copies_; }
    /// Elements before the piece of the destination process at that position of its arrangement.
    std::int64_t before(std::int64_t position) const;
    /// Where the stretch of copy j begins; of copies(): the end of the last.
    std::int64_t share_begin(std::int64_t copy) const;
    /// The copies whose stretches meet [first, last).
    std::pair<std::int64_t, std::int64_t> copies_of(std::int64_t first, std::int64_t last) const;
    /// True where the destination process at that position is one of the copies itself.
    bool serves_itself(std::int64_t position) const;

  private:
    std::int64_t piece(std::int64_t position) const;
    std::int64_t all_before(std::int64_t position) const;
    void count_each();
    /// The destination, no grid: the count of the first process at or after `position`.
    std::vector<std::pair<std::int64_t, std::int64_t>>::const_iterator at(
        std::int64_t position) const;

    const Problem& problem_;
    std::int64_t copies_;
    std::vector<layout::IndexSet> sets_;
    std::vector<std::int64_t> self_;  // positions of destination processes that are copies
    /// Of a destination that is no grid: (process, its count and those of the ones before it).
    std::vector<std::pair<std::int64_t, std::int64_t>> sums_;
    std::int64_t total_ = 0;  // elements in all the stretches
};

}  // namespace hocket::plan
