// SPDX-License-Identifier: BSD-3-Clause
#include "halo/halo_plan.hpp"

#include <algorithm>
#include <optional>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "base/text.hpp"
#include "layout/form.hpp"
#include "layout/interval.hpp"

namespace hocket::halo {
namespace {

class BorderedDimension {
  public:
    BorderedDimension(const layout::Form& form, std::size_t d, std::int64_t width, bool periodic)
        : axis_(form.axes[d]), extent_(form.shape[d]), width_(width), periodic_(periodic) {
        for (std::int64_t c = 0; c < (axis_.grid < 0 ? 1 : axis_.procs); ++c) {
            const auto held = axis_.grid < 0 ? layout::whole(extent_) : layout::held_by(axis_, c);
            if (held.empty()) {
                parts_.push_back({0, 0});
                continue;
            }
            const std::int64_t first = held.element(0), last = held.element(held.count() - 1) + 1;
            if (width > 0 && last - first != held.count())
                throw LayoutError(
                    "a halo along dimension " + text::number(d) + " of " + layout::brief(form) +
                    " cannot be: its processes hold several intervals of it; distribute it BLOCK, "
                    "GEN_BLOCK or BALANCED, or by boxes, or give it width 0");
            // Without a border only the number of indices counts.
            parts_.push_back({first, width > 0 ? last : first + held.count()});
        }
    }

    const layout::Range& part(std::int64_t c) const { return parts_[static_cast<std::size_t>(c)]; }
    std::int64_t parts() const { return static_cast<std::int64_t>(parts_.size()); }
    /// How much of the border below and above the part at c is within the array.
    std::int64_t below(std::int64_t c) const {
        return periodic_ ? width_ : std::min(width_, part(c).first);
    }
    std::int64_t above(std::int64_t c) const {
        return periodic_ ? width_ : std::min(width_, extent_ - part(c).last);
    }

    /// Calls `visit(holder, at, from, count)` for the blocks of the border of the part at c, in an
    /// order that both sides compute alike: `count` indices, the first at `at` of the memory with
    /// border, and at `from` of the part at `holder`.
    template <class Visit>
    void for_border(std::int64_t c, const Visit& visit) const {
        const layout::Range own = part(c);
        if (own.first == own.last) return;
        for_holders(own.first - below(c), own.first, width_ - below(c), visit);
        for_holders(own.last, own.last + above(c), width_ + own.last - own.first, visit);
    }

  private:
    template <class Visit>
    void for_holders(std::int64_t first, std::int64_t last, std::int64_t at,
                     const Visit& visit) const {
        while (first < last) {
            const std::int64_t index = base::floor_mod(first, extent_);
            const std::int64_t c = axis_.grid < 0 ? 0 : axis_.owner(index);
            const std::int64_t count = std::min(part(c).last - index, last - first);
            visit(c, at, index - part(c).first, count);
            first += count;
            at += count;
        }
    }

    layout::Axis axis_;
    std::int64_t extent_, width_;
    bool periodic_;
    std::vector<layout::Range> parts_;  // of the processes at a coordinate
};

// The blocks that the process at these coordinates sends and receives along dimension d.
std::vector<BorderBlock> borders_along(std::size_t d, const layout::Form& form, const Shape& width,
                                       const Shape& coordinates,
                                       const std::vector<BorderedDimension>& dimensions) {
    const auto local_extent = [&](std::size_t k, std::int64_t coordinate) {
        const layout::Range part = dimensions[k].part(coordinate);
        return part.last - part.first;
    };
    const auto rank_at = [&](std::int64_t coordinate) {
        Shape there = coordinates;
        if (form.axes[d].grid >= 0) there[static_cast<std::size_t>(form.axes[d].grid)] = coordinate;
        return form.process_at(form.position(there));
    };
    // Along d: for earlier dimensions all elements filled by now, for later ones the local
    // elements. Both processes have the same coordinates along these.
    const auto block = [&](std::int64_t holder, std::int64_t to, std::int64_t at, std::int64_t from,
                           std::int64_t count) {
        Shape extents, first, shape;
        for (std::size_t k = 0; k < width.size(); ++k) {
            const std::int64_t c = form.coordinate(k, coordinates), n = local_extent(k, c);
            const std::int64_t below = k < d ? dimensions[k].below(c) : 0;
            extents.push_back(n + below + (k < d ? dimensions[k].above(c) : 0));
            first.push_back(width[k] - below);
            shape.push_back(n + 2 * width[k]);
        }
        extents[d] = count;
        Shape source_first = first, source_shape = shape;
        source_first[d] = width[d] + from;
        source_shape[d] = local_extent(d, holder) + 2 * width[d];
        first[d] = at;
        shape[d] = local_extent(d, to) + 2 * width[d];
        return border_block(rank_at(holder), rank_at(to), extents, source_first, first,
                            source_shape, shape);
    };
    std::vector<BorderBlock> made;
    const std::int64_t me = form.coordinate(d, coordinates);
    for (std::int64_t to = 0; to < dimensions[d].parts(); ++to)
        dimensions[d].for_border(
            to, [&](std::int64_t holder, std::int64_t at, std::int64_t from, std::int64_t count) {
                if (to == me || holder == me) made.push_back(block(holder, to, at, from, count));
            });
    return made;
}

void require_widths(const Layout& layout, const Shape& width, const std::vector<bool>& periodic) {
    const layout::Form& form = layout.form();
    const std::size_t dimensions = form.shape.size();
    if (form.indexed())
        throw LayoutError(
            "an array of explicit segments or listed elements has no neighbours, and so no halo; "
            "redistribute it to a layout with dimensions first: BLOCK, GEN_BLOCK, BALANCED or "
            "boxes");
    if (width.size() != dimensions || (!periodic.empty() && periodic.size() != dimensions))
        throw LayoutError("a halo of " + layout::label(layout.form()) + " needs a width" +
                          (periodic.empty() ? "" : " and whether it is periodic") +
                          " for each of " + std::to_string(dimensions) + " dimensions, and got " +
                          text::tuple(width) + (periodic.empty() ? "" : " and ") +
                          (periodic.empty() ? "" : std::to_string(periodic.size()) + " flags"));
    for (std::size_t d = 0; d < dimensions; ++d)
        if (width[d] < 0)
            throw LayoutError("a halo of width " + std::to_string(width[d]) + " along dimension " +
                              text::number(d) + " cannot be; give 0 or more");
}

// Nothing if it has more than 2^63 bytes, because of the border along dimension `wide`.
std::optional<Shape> with_border(Shape shape, const Shape& width, std::int64_t itemsize,
                                 std::size_t& wide) {
    std::optional<std::int64_t> bytes = itemsize;
    for (std::size_t d = 0; d < shape.size() && bytes; ++d) {
        const auto both = base::product(2, width[d]);
        const auto extent = both ? base::sum(shape[d], *both) : both;
        if (!extent) wide = d;
        bytes = extent ? base::product(*bytes, *extent) : extent;
        shape[d] = extent.value_or(0);
    }
    if (!bytes) return std::nullopt;
    return shape;
}

}  // namespace

Shape bordered_shape(const Layout& layout, std::int64_t rank, const DType& dtype,
                     const Shape& width, const std::vector<bool>& periodic) {
    require_widths(layout, width, periodic);
    Shape own(width.size(), 0);
    auto wide =
        static_cast<std::size_t>(std::max_element(width.begin(), width.end()) - width.begin());
    for (std::int64_t process = 0; process < layout.size(); ++process) {
        if (layout.local_elements(process) == 0) continue;
        const auto shape = with_border(layout.local_shape(process), width, dtype.size, wide);
        if (!shape)
            throw MemoryError(
                "a local array with a border of width " + std::to_string(width[wide]) +
                " along dimension " + text::number(wide) +
                " has more than 2^63 bytes; use more processes, or a narrower border");
        if (process == rank) own = *shape;
    }
    return own;
}

HaloPlan halo_plan(const Layout& layout, std::int64_t rank, const DType& dtype, const Shape& width,
                   const std::vector<bool>& periodic, Order order) {
    const layout::Form& form = layout.form();
    const std::size_t dimensions = form.shape.size();
    std::string turning;
    for (const bool flag : periodic) turning += flag ? '1' : '0';
    HaloPlan work;
    work.process = rank;
    work.itemsize = dtype.size;
    work.order = order;
    work.text = "halo.exchange(" + dtype.name + " " + layout::label(layout.form()) +
                ", width=" + text::tuple(width) + (turning.empty() ? "" : ", periodic=" + turning) +
                ")";
    if (form.boxes) {
        if (rank >= 0 && form.local_elements(rank) > 0)
            work.phases.push_back(box_borders(form, rank, width, periodic));
        return work;
    }
    std::vector<BorderedDimension> along;
    for (std::size_t d = 0; d < dimensions; ++d) {
        along.emplace_back(form, d, width[d], !periodic.empty() && periodic[d]);
    }
    const auto coordinates = rank < 0 ? std::nullopt : form.place(rank);
    if (!coordinates || form.local_elements(rank) == 0) return work;
    for (std::size_t d = 0; d < dimensions; ++d)
        if (width[d] > 0) work.phases.push_back(borders_along(d, form, width, *coordinates, along));
    return work;
}

}  // namespace hocket::halo
