// SPDX-License-Identifier: BSD-3-Clause
#include "plan/dealing.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "layout/family.hpp"

namespace hocket::plan {

using layout::Role;

namespace {

/// Calls `visit(rank)` for every process that differs from `at` in the coordinates of copies only.
template <class Visit>
void for_copies(const layout::Form& form, Shape at, std::size_t g, Visit&& visit) {
    if (g == form.grid.size()) {
        visit(form.rank(at));
        return;
    }
    if (form.grid[g].kind != Role::Kind::copies) {
        for_copies(form, at, g + 1, visit);
        return;
    }
    for (std::int64_t c = 0; c < form.base.procs[g]; ++c) {
        at[g] = c;
        for_copies(form, at, g + 1, visit);
    }
}

}  // namespace

Dealing::Dealing(const Problem& problem, const Shape& at)
    : problem_(problem), copies_(problem.source.form().copies) {
    const layout::Form& from = problem.source.form();
    total_ = problem.destination.form().copies;
    for (std::size_t d = 0; d < from.axes.size(); ++d) {
        sets_.push_back(layout::held_by(from.axes[d], from.coordinate(d, at)));
        total_ *= sets_.back().count();
    }
    if (problem.options.overlap.empty()) return;
    for_copies(from, at, 0, [&](std::int64_t rank) {
        const std::int64_t same = problem.same(Side::source, rank);
        if (same >= 0) self_.push_back(same);
    });
    std::sort(self_.begin(), self_.end());
    for (const std::int64_t rank : self_) total_ -= piece(rank);
}

std::int64_t Dealing::piece(std::int64_t destination_rank) const {
    const std::vector<layout::IndexSet> theirs = problem_.sets(Side::destination, destination_rank);
    if (!problem_.destination.form().takes_part(
            problem_.destination.form().coordinates(destination_rank)))
        return 0;
    std::int64_t count = 1;
    for (std::size_t d = 0; d < sets_.size() && count > 0; ++d)
        count *= layout::count_common(sets_[d], theirs[d]);
    return count;
}

std::int64_t Dealing::before(const Shape& destination) const {
    // Pieces are products of one count a dimension of the arrangement, so that the sum over all
    // processes that come before in row-major order is a sum over these dimensions.
    const layout::Form& to = problem_.destination.form();
    std::vector<std::int64_t> dimension_of(to.axes.size());
    for (std::size_t d = 0; d < sets_.size(); ++d)
        dimension_of[problem_.where[d]] = static_cast<std::int64_t>(d);
    std::int64_t rest = 1;  // product over what the arrangement does not divide, and of all of g..
    for (std::size_t d = 0; d < sets_.size(); ++d)
        if (to.axes[problem_.where[d]].grid < 0) rest *= sets_[d].count();
    for (std::size_t g = 0; g < to.grid.size(); ++g) {
        const Role& role = to.grid[g];
        if (role.kind == Role::Kind::copies) rest *= to.base.procs[g];
        if (role.kind == Role::Kind::dimension)
            rest *= sets_[static_cast<std::size_t>(
                              dimension_of[static_cast<std::size_t>(role.dimension)])]
                        .count();
    }
    if (rest == 0) return 0;
    std::int64_t sum = 0, mine = 1;
    for (std::size_t g = 0; g < to.grid.size(); ++g) {
        const Role& role = to.grid[g];
        std::int64_t lower = 0, equal = 1, all = 1;
        if (role.kind == Role::Kind::copies) {
            lower = destination[g];
            all = to.base.procs[g];
        } else if (role.kind == Role::Kind::dimension) {
            const auto j = static_cast<std::size_t>(role.dimension);
            const layout::IndexSet& set = sets_[static_cast<std::size_t>(dimension_of[j])];
            lower = layout::count_common(set, layout::held_by(to.axes[j], 0, destination[g]));
            equal = layout::count_common(set, layout::held_by(to.axes[j], destination[g]));
            all = set.count();
        } else {
            lower = destination[g] > role.coordinate ? 1 : 0;
            equal = destination[g] == role.coordinate ? 1 : 0;
        }
        rest /= all;
        sum += mine * lower * rest;
        mine *= equal;
    }
    const std::int64_t rank = to.rank(destination);
    for (const std::int64_t self : self_) {
        if (self >= rank) break;
        sum -= piece(self);
    }
    return sum;
}

std::int64_t Dealing::stretch(std::int64_t copy) const {
    return static_cast<std::int64_t>(static_cast<base::wide>(total_) * copy / copies_);
}

std::pair<std::int64_t, std::int64_t> Dealing::copies_of(std::int64_t first,
                                                         std::int64_t last) const {
    if (first >= last) return {0, 0};
    const auto holder = [&](std::int64_t element) {
        auto copy = static_cast<std::int64_t>(static_cast<base::wide>(element) * copies_ / total_);
        while (copy + 1 < copies_ && stretch(copy + 1) <= element) ++copy;
        while (stretch(copy) > element) --copy;
        return copy;
    };
    return {holder(first), holder(last - 1) + 1};
}

bool Dealing::serves_itself(std::int64_t destination_rank) const {
    return std::binary_search(self_.begin(), self_.end(), destination_rank);
}

}  // namespace hocket::plan
