// SPDX-License-Identifier: BSD-3-Clause
#include "plan/replica_shares.hpp"

#include <algorithm>
#include <span>

#include "base/checked.hpp"
#include "layout/family.hpp"
#include "layout/interval.hpp"

namespace hocket::plan {

using layout::Role;

ReplicaShares::ReplicaShares(const Problem& problem, const Shape& at)
    : problem_(problem), copies_(problem.source.form().copies) {
    const layout::Form &from = problem.source.form(), &to = problem.destination.form();
    total_ = to.copies;
    for (std::size_t d = 0; d < from.axes.size(); ++d) {
        sets_.push_back(layout::held_by(from.axes[d], from.coordinate(d, at)));
        total_ *= sets_.back().count();
    }
    if (!to.gridded()) count_each();
    if (problem.disjoint()) return;
    for (std::int64_t copy = 0; copy < copies_; ++copy) {
        const std::int64_t rank = from.process_at(from.position(from.copy_at(copy, at)));
        const std::int64_t same = problem.same(Side::source, rank);
        if (same < 0) continue;
        if (!to.gridded()) {
            self_.push_back(same);
        } else if (const auto there = to.place(same)) {
            self_.push_back(to.position(*there));
        }
    }
    std::sort(self_.begin(), self_.end());
    for (const std::int64_t position : self_) total_ -= piece(position);
}

/// This destination has no product form: visits every box or segment that may intersect.
void ReplicaShares::count_each() {
    const layout::Form& to = problem_.destination.form();
    total_ = 0;
    std::vector<layout::Range> around(sets_.size());
    for (std::size_t d = 0; d < sets_.size(); ++d) {
        if (sets_[d].empty()) return;
        around[problem_.where[d]] = {sets_[d].element(0),
                                     sets_[d].element(sets_[d].count() - 1) + 1};
    }
    const auto add = [&](std::int64_t process, std::span<const layout::Range> box) {
        std::int64_t count = 1;
        for (std::size_t d = 0; d < sets_.size() && count > 0; ++d) {
            const layout::Range& range = box[problem_.where[d]];
            count *= sets_[d].count_below(range.last) - sets_[d].count_below(range.first);
        }
        if (count > 0) sums_.emplace_back(process, count);
        return true;
    };
    if (to.boxes) {
        const layout::BoxIndex& boxes = to.boxes->held();
        boxes.for_intersecting(around,
                               [&](std::int64_t k) { return add(boxes.process(k), boxes.box(k)); });
    } else {
        to.segments->for_intersecting(0, to.elements, [&](const layout::Segment& segment) {
            for (const auto& box :
                 layout::boxes_of_interval(to.shape, segment.first, segment.last()))
                add(segment.process, box);
            return true;
        });
    }
    std::sort(sums_.begin(), sums_.end());
    std::size_t kept = 0;
    for (const auto& [process, count] : sums_) {
        total_ += count;
        if (kept == 0 || sums_[kept - 1].first != process) ++kept;
        sums_[kept - 1] = {process, total_};
    }
    sums_.resize(kept);
}

std::vector<std::pair<std::int64_t, std::int64_t>>::const_iterator ReplicaShares::at(
    std::int64_t position) const {
    return std::partition_point(sums_.begin(), sums_.end(),
                                [&](const auto& each) { return each.first < position; });
}

std::int64_t ReplicaShares::piece(std::int64_t position) const {
    const layout::Form& to = problem_.destination.form();
    if (!to.gridded()) return all_before(position + 1) - all_before(position);
    const Shape at = layout::unflatten(position, to.base.procs);
    std::int64_t count = 1;
    for (std::size_t d = 0; d < sets_.size() && count > 0; ++d) {
        const std::size_t j = problem_.where[d];
        count *= layout::count_common(sets_[d], layout::held_by(to.axes[j], to.coordinate(j, at)));
    }
    return count;
}

std::int64_t ReplicaShares::before(std::int64_t position) const {
    std::int64_t sum = all_before(position);
    for (const std::int64_t self : self_) {
        if (self >= position) break;
        sum -= piece(self);
    }
    return sum;
}

std::int64_t ReplicaShares::all_before(std::int64_t position) const {
    const layout::Form& to = problem_.destination.form();
    if (!to.gridded()) {
        const auto after = at(position);
        return after == sums_.begin() ? 0 : (after - 1)->second;
    }
    // Pieces are products of one count for each dimension of the arrangement, so the sum over all
    // earlier positions is a sum over these dimensions.
    const Shape at = layout::unflatten(position, to.base.procs);
    std::int64_t rest = 1;  // product of the whole counts of later dimensions
    for (std::size_t d = 0; d < sets_.size(); ++d) rest *= sets_[d].count();
    rest *= to.copies;
    if (rest == 0) return 0;
    std::int64_t sum = 0, mine = 1;
    for (std::size_t g = 0; g < to.grid.size(); ++g) {
        const Role& role = to.grid[g];
        std::int64_t lower = 0, equal = 1, all = 1;
        if (role.kind == Role::Kind::copies) {
            lower = role.holders.count_below(at[g]);
            all = role.holders.count();
        } else if (role.kind == Role::Kind::dimension) {
            const auto j = static_cast<std::size_t>(role.dimension);
            const std::size_t d = static_cast<std::size_t>(problem_.options.axes[j]);
            lower = layout::count_common(sets_[d], layout::held_by(to.axes[j], 0, at[g]));
            equal = layout::count_common(sets_[d], layout::held_by(to.axes[j], at[g]));
            all = sets_[d].count();
        }
        rest /= all;
        sum += mine * lower * rest;
        mine *= equal;
    }
    return sum;
}

std::int64_t ReplicaShares::share_begin(std::int64_t copy) const {
    return static_cast<std::int64_t>(static_cast<base::wide>(total_) * copy / copies_);
}

std::pair<std::int64_t, std::int64_t> ReplicaShares::copies_of(std::int64_t first,
                                                               std::int64_t last) const {
    if (first >= last) return {0, 0};
    const auto holder = [&](std::int64_t element) {
        auto copy = static_cast<std::int64_t>(static_cast<base::wide>(element) * copies_ / total_);
        while (copy + 1 < copies_ && share_begin(copy + 1) <= element) ++copy;
        while (share_begin(copy) > element) --copy;
        return copy;
    };
    return {holder(first), holder(last - 1) + 1};
}

bool ReplicaShares::serves_itself(std::int64_t position) const {
    return std::binary_search(self_.begin(), self_.end(), position);
}

}  // namespace hocket::plan
