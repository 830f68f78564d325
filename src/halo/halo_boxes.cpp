// SPDX-License-Identifier: BSD-3-Clause
// Borders of boxes.
#include <algorithm>

#include "base/checked.hpp"
#include "halo/halo_plan.hpp"
#include "layout/form.hpp"

namespace hocket::halo {
namespace {

using Ranges = std::vector<layout::Range>;

// The border of boxes, in one phase: a process receives its border, corners included, from the
// owners of those elements.
class BoxBorders {
  public:
    BoxBorders(const layout::Form& form, const Shape& width, const std::vector<bool>& periodic)
        : form_(form), width_(width), periodic_(periodic) {}

    std::vector<BorderBlock> of(std::int64_t me) const {
        std::vector<BorderBlock> made;
        const auto add = [&](std::int64_t to, bool all) {
            for_border(to, [&](std::int64_t holder, const Ranges& box, const Shape& shift) {
                if (all || holder == me) made.push_back(block(holder, to, box, shift));
            });
        };
        add(me, true);
        for (const std::int64_t other : requesters(me))
            if (other != me) add(other, false);
        return made;
    }

  private:
    Shape no_shift() const { return Shape(width_.size(), 0); }

    /// Calls `visit(box, shift)` for the parts of a box with a border within the array, with their
    /// shifts in periodic dimensions.
    template <class Visit>
    void for_rounds(const Ranges& box, Visit visit) const {
        Ranges part(box.size());
        Shape shift(box.size(), 0);
        const auto descend = [&](auto& self, std::size_t d) -> void {
            if (d == box.size()) {
                visit(part, shift);
                return;
            }
            const std::int64_t n = form_.shape[d];
            const std::int64_t first = box[d].first - width_[d], last = box[d].last + width_[d];
            const bool rounds = !periodic_.empty() && periodic_[d];
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

    /// Calls `visit(holder, box, shift)` for the blocks of a process's border, in an order that all
    /// processes compute alike. A block has the elements of `box` (indices of the array), which are
    /// `shift` indices further on in the border.
    template <class Visit>
    void for_border(std::int64_t process, const Visit& visit) const {
        const Ranges& own = form_.boxes->box(process).ranges;
        const layout::BoxIndex& holders = form_.boxes->sent();
        for_rounds(own, [&](const Ranges& part, const Shape& shift) {
            std::vector<std::int64_t> hits;
            holders.for_intersecting(part, [&](std::int64_t k) {
                hits.push_back(k);
                return true;
            });
            std::sort(hits.begin(), hits.end());
            const bool here = shift == no_shift();
            for (const std::int64_t k : hits) {
                Ranges common = layout::common_box(part, holders.box(k));
                std::vector<Ranges> outside;
                if (here)  // the process's own elements are no border
                    layout::add_outside(std::move(common), own, outside);
                else
                    outside.push_back(std::move(common));
                for (const Ranges& box : outside) visit(holders.process(k), box, shift);
            }
        });
    }

    /// The processes whose border may need elements of `process`.
    std::vector<std::int64_t> requesters(std::int64_t process) const {
        std::vector<std::int64_t> found;
        const layout::BoxIndex& sent = form_.boxes->sent();
        const layout::Range numbers = sent.of(process);
        for (std::int64_t k = numbers.first; k < numbers.last; ++k)
            for_rounds({sent.box(k).begin(), sent.box(k).end()},
                       [&](const Ranges& part, const Shape&) {
                           form_.boxes->held().for_intersecting(part, [&](std::int64_t other) {
                               found.push_back(form_.boxes->held().process(other));
                               return true;
                           });
                       });
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }

    static Shape extents(const Ranges& box) {
        Shape result;
        for (const layout::Range& range : box) result.push_back(range.last - range.first);
        return result;
    }

    BorderBlock block(std::int64_t holder, std::int64_t to, const Ranges& box,
                      const Shape& shift) const {
        return border_block(holder, to, extents(box), first_index(holder, box, no_shift()),
                            first_index(to, box, shift), shape(holder), shape(to));
    }

    // The shape of a process's memory with its border.
    Shape shape(std::int64_t process) const {
        Shape shape = extents(form_.boxes->box(process).ranges);
        for (std::size_t d = 0; d < shape.size(); ++d) shape[d] += 2 * width_[d];
        return shape;
    }

    // The position of the box's first element in that memory.
    Shape first_index(std::int64_t process, const Ranges& box, const Shape& shift) const {
        const Ranges& own = form_.boxes->box(process).ranges;
        Shape index;
        for (std::size_t d = 0; d < box.size(); ++d)
            index.push_back(box[d].first + shift[d] - own[d].first + width_[d]);
        return index;
    }

    const layout::Form& form_;
    const Shape& width_;
    const std::vector<bool>& periodic_;
};

}  // namespace

std::vector<BorderBlock> box_borders(const layout::Form& form, std::int64_t rank,
                                     const Shape& width, const std::vector<bool>& periodic) {
    return BoxBorders(form, width, periodic).of(rank);
}

}  // namespace hocket::halo
