// SPDX-License-Identifier: BSD-3-Clause
// The processes of an arrangement that hold elements of given index sets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "layout/form.hpp"
#include "plan/problem.hpp"
#include "plan/share.hpp"

namespace hocket::plan {

/// Walks over the positions of an arrangement that have one of the listed coordinates in each
/// dimension, in increasing order, with the product of the listed counts.
class Walk {
  public:
    /// The processes of `side`, a grid, that hold elements of `sets`, one set for each dimension of
    /// the source. With `one_copy`, only the first of several copies.
    Walk(const Problem& problem, Side side, const std::vector<layout::IndexSet>& sets,
         bool one_copy)
        : form_(problem.form(side)), lists_(form_.grid.size()), at_(form_.grid.size()) {
        using layout::Role;
        for (std::size_t d = 0; d < sets.size(); ++d) {
            const layout::Axis& axis = problem.axis(side, d);
            if (axis.grid < 0)
                factor_ *= sets[d].count();
            else
                lists_[static_cast<std::size_t>(axis.grid)] = shares(sets[d], axis);
        }
        for (std::size_t g = 0; g < lists_.size(); ++g) {
            const Role& role = form_.grid[g];
            if (role.kind == Role::Kind::fixed) lists_[g].push_back({role.coordinate, 1});
            if (role.kind != Role::Kind::copies) continue;
            const std::int64_t copies = one_copy ? 1 : role.holders.count();
            for (std::int64_t c = 0; c < copies; ++c)
                lists_[g].push_back({role.holders.element(c), 1});
        }
    }

    /// Calls `visit(position, count)`; counts are positive.
    template <class Visit>
    void run(Visit&& visit) {
        descend(0, 0, factor_, visit);
    }
    std::int64_t length() const {
        std::int64_t length = 1;
        for (const std::vector<Share>& list : lists_)
            length *= static_cast<std::int64_t>(list.size());
        return length;
    }
    const Shape& coordinates() const { return at_; }  ///< of the current position

  private:
    template <class Visit>
    void descend(std::size_t g, std::int64_t position, std::int64_t count, Visit& visit) {
        if (g == lists_.size()) {
            if (count > 0) visit(position, count);
            return;
        }
        for (const Share& share : lists_[g]) {
            at_[g] = share.coordinate;
            descend(g + 1, position * form_.base.procs[g] + share.coordinate, count * share.count,
                    visit);
        }
    }

    const layout::Form& form_;
    std::vector<std::vector<Share>> lists_;
    std::int64_t factor_ = 1;
    Shape at_;
};

/// For a side that is no list: calls `visit(position, count)` for the processes that hold elements
/// of `sets`, by increasing position. For boxes, the position is the process.
template <class Visit>
void for_holders(const Problem& problem, Side side, const std::vector<layout::IndexSet>& sets,
                 bool one_copy, Visit&& visit) {
    const layout::Form& form = problem.form(side);
    if (form.gridded()) {
        Walk(problem, side, sets, one_copy).run(visit);
        return;
    }
    std::vector<layout::Range> around(sets.size());
    for (std::size_t d = 0; d < sets.size(); ++d) {
        if (sets[d].empty()) return;
        around[problem.dimension(side, d)] = {sets[d].element(0),
                                              sets[d].element(sets[d].count() - 1) + 1};
    }
    const layout::BoxIndex& boxes = form.boxes->held();
    std::vector<std::pair<std::int64_t, std::int64_t>> found;  // process, count
    boxes.for_intersecting(around, [&](std::int64_t k) {
        std::int64_t count = 1;
        for (std::size_t d = 0; d < sets.size() && count > 0; ++d) {
            const layout::Range& range = boxes.box(k)[problem.dimension(side, d)];
            count *= sets[d].count_below(range.last) - sets[d].count_below(range.first);
        }
        if (count > 0) found.emplace_back(boxes.process(k), count);
        return true;
    });
    std::sort(found.begin(), found.end());
    for (const auto& [process, count] : found) visit(process, count);
}

}  // namespace hocket::plan
