// SPDX-License-Identifier: BSD-3-Clause
// What a plan is asked: two layouts, how their dimensions and their processes correspond.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hocket/plan.hpp"
#include "layout/form.hpp"

namespace hocket::plan {

/// Everything is said in the source's dimensions: dimension d of the source is dimension
/// `where[d]` of the destination.
struct Problem {
    Layout source;
    Layout destination;
    Options options;
    std::vector<std::size_t> where;
    /// (source process, the destination process that is the same one), increasing; empty: disjoint
    /// sides.
    std::vector<std::pair<std::int64_t, std::int64_t>> reverse;

    /// @throws LayoutError as Plan does.
    Problem(Layout source, Layout destination, Options options);

    const layout::Form& form(Side side) const {
        return side == Side::source ? source.form() : destination.form();
    }
    const layout::Axis& axis(Side side, std::size_t d) const {
        return form(side).axes[side == Side::source ? d : where[d]];
    }
    /// Dimension d of the source in that side's own numbering.
    std::size_t dimension(Side side, std::size_t d) const {
        return side == Side::source ? d : where[d];
    }
    /// True where no process is on both sides.
    bool disjoint() const { return options.overlap.empty() && !options.same_ranks; }
    bool turned() const;  ///< true where axes are not the identity
    /// True where boxes of what two processes have in common are listed: a side is a list, or the
    /// source is boxes that overlap.
    bool has_common_boxes() const;
    /// True where the source has copies that are no grid's.
    bool scattered_copies() const;
    /// What a process of a side that is no list holds, one set for each dimension of the source.
    std::vector<layout::IndexSet> sets(Side side, std::int64_t rank) const;
    /// Elements that all destination processes hold together, copies counted.
    std::int64_t wanted() const;
    /// Elements that both processes hold.
    std::int64_t common(std::int64_t source_rank, std::int64_t destination_rank) const;
    /// The process of the other side that is the same as this one, or -1.
    std::int64_t same(Side side, std::int64_t rank) const;
};

inline Side other(Side side) {
    return side == Side::source ? Side::destination : Side::source;
}

}  // namespace hocket::plan
