// SPDX-License-Identifier: BSD-3-Clause
// Borders of boxes.
#include <algorithm>

#include "base/checked.hpp"
#include "halo/halo_plan.hpp"
#include "layout/form.hpp"

namespace hocket::halo {
namespace {

using Ranges = std::vector<layout::Range>;

Shape extents(const Ranges& box) {
    Shape result;
    for (const layout::Range& range : box) result.push_back(range.last - range.first);
    return result;
}

// The shape of a process's memory with its border.
Shape bordered_shape(const layout::Form& form, const Shape& width, std::int64_t process) {
    Shape shape = extents(form.boxes->box(process).ranges);
    for (std::size_t d = 0; d < shape.size(); ++d) shape[d] += 2 * width[d];
    return shape;
}

// The position in that memory of the element `shift` indices behind the box's first one.
Shape index_in(const layout::Form& form, const Shape& width, std::int64_t process,
               const Ranges& box, const Shape& shift) {
    const Ranges& own = form.boxes->box(process).ranges;
    Shape index;
    for (std::size_t d = 0; d < box.size(); ++d)
        index.push_back(box[d].first + shift[d] - own[d].first + width[d]);
    return index;
}

// Calls `visit(box, shift)` for the parts of a box with a border within the array, with their
// shifts in periodic dimensions.
template <class Visit>
void for_rounds(const layout::Form& form, const Shape& width, const std::vector<bool>& periodic,
                const Ranges& box, const Visit& visit) {
    Ranges part(box.size());
    Shape shift(box.size(), 0);
    const auto descend = [&](auto& self, std::size_t d) -> void {
        if (d == box.size()) {
            visit(part, shift);
            return;
        }
        const std::int64_t n = form.shape[d];
        const std::int64_t first = box[d].first - width[d], last = box[d].last + width[d];
        const bool rounds = !periodic.empty() && periodic[d];
        const std::int64_t low = rounds ? base::floor_div(first, n) : 0;
        const std::int64_t high = rounds ? base::floor_div(last - 1, n) : 0;
        for (std::int64_t k = low; k <= high; ++k) {
            part[d] = {std::max<std::int64_t>(first - k * n, 0), std::min(last - k * n, n)};
            shift[d] = k * n;
            if (part[d].first < part[d].last) self(self, d + 1);
        }
    };
    descend(descend, 0);
}

// Adds the blocks of a process's border that `holder` has (-1: any), in an order that all processes
// compute alike.
void add_border(const layout::Form& form, const Shape& width, const std::vector<bool>& periodic,
                std::int64_t process, std::int64_t holder, std::vector<BorderBlock>& blocks) {
    const Ranges& own = form.boxes->box(process).ranges;
    const layout::BoxIndex& held = form.boxes->sent();
    const Shape no_shift(width.size(), 0);
    for_rounds(form, width, periodic, own, [&](const Ranges& part, const Shape& shift) {
        std::vector<std::int64_t> hits;
        held.for_intersecting(part, [&](std::int64_t k) {
            if (holder < 0 || held.process(k) == holder) hits.push_back(k);
            return true;
        });
        std::sort(hits.begin(), hits.end());
        for (const std::int64_t k : hits) {
            const std::int64_t from = held.process(k);
            Ranges common = layout::common_box(part, held.box(k));
            std::vector<Ranges> outside;
            if (shift == no_shift)  // the process's own elements are no border
                layout::add_outside(std::move(common), own, outside);
            else
                outside.push_back(std::move(common));
            for (const Ranges& box : outside)
                blocks.push_back(border_block(
                    from, process, extents(box), index_in(form, width, from, box, no_shift),
                    index_in(form, width, process, box, shift), bordered_shape(form, width, from),
                    bordered_shape(form, width, process)));
        }
    });
}

// The processes whose border may need elements of `process`.
std::vector<std::int64_t> requesters(const layout::Form& form, const Shape& width,
                                     const std::vector<bool>& periodic, std::int64_t process) {
    std::vector<std::int64_t> found;
    const layout::BoxIndex &sent = form.boxes->sent(), &held = form.boxes->held();
    const layout::Range numbers = sent.of(process);
    for (std::int64_t k = numbers.first; k < numbers.last; ++k)
        for_rounds(form, width, periodic, {sent.box(k).begin(), sent.box(k).end()},
                   [&](const Ranges& part, const Shape&) {
                       held.for_intersecting(part, [&](std::int64_t other) {
                           found.push_back(held.process(other));
                           return true;
                       });
                   });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace

// In one phase: a process receives its border, corners included, from the owners of those elements.
std::vector<BorderBlock> box_borders(const layout::Form& form, std::int64_t rank,
                                     const Shape& width, const std::vector<bool>& periodic) {
    std::vector<BorderBlock> made;
    add_border(form, width, periodic, rank, -1, made);
    for (const std::int64_t other : requesters(form, width, periodic, rank))
        if (other != rank) add_border(form, width, periodic, other, rank, made);
    return made;
}

}  // namespace hocket::halo
