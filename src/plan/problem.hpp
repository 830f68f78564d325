// SPDX-License-Identifier: BSD-3-Clause
// The problem of a plan: two layouts, and the correspondence of their dimensions and processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hocket/plan.hpp"
#include "layout/form.hpp"

namespace hocket::plan {

/// A number as the index of a vector.
constexpr std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// All members use the source's dimensions: dimension d of the source is dimension `where[d]` of
/// the destination.
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
    bool turned() const;  ///< true if the axes are not the identity
    /// True if the plan lists boxes of common elements: a side is a list, or the source has
    /// overlapping boxes.
    bool has_common_boxes() const;
    /// True if a source other than a grid has copies.
    bool scattered_copies() const;
    /// The index sets of a process of a side that is no list, one for each dimension of the source.
    std::vector<layout::IndexSet> sets(Side side, std::int64_t rank) const;
    /// Elements of all destination processes together, counting copies.
    std::int64_t wanted() const;
    /// Elements that both processes hold.
    std::int64_t common(std::int64_t source_rank, std::int64_t destination_rank) const;
    /// The process of the other side that is the same as this one, or -1.
    std::int64_t same(Side side, std::int64_t rank) const;
};

/// Checks what a Problem of these would, without making one. @throws LayoutError as Plan does.
void check(const Layout& source, const Layout& destination, const Options& options);

inline Side other(Side side) {
    return side == Side::source ? Side::destination : Side::source;
}

}  // namespace hocket::plan
