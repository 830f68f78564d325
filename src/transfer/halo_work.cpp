// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/halo_work.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "layout/form.hpp"

namespace hocket::transfer {
namespace {

// A piece of somebody's border along one dimension: `count` indices, which lie `at` in his memory
// with border, and `from` in the part of the process that holds them.
struct Wish {
    std::int64_t holder, at, from, count;
};

class Dimension {
  public:
    Dimension(const layout::Form& form, std::size_t d, std::int64_t width, bool periodic)
        : axis_(form.axes[d]), extent_(form.shape[d]), width_(width), periodic_(periodic) {
        for (std::int64_t c = 0; c < (axis_.grid < 0 ? 1 : axis_.procs); ++c) {
            const auto held = axis_.grid < 0 ? layout::whole(extent_) : layout::held_by(axis_, c);
            if (held.empty()) {
                parts_.push_back({});
                continue;
            }
            const std::int64_t first = held.element(0), last = held.element(held.count() - 1) + 1;
            if (width > 0 && last - first != held.count())
                throw LayoutError(
                    "a halo along dimension " + std::to_string(d) + " of " + layout::brief(form) +
                    " cannot be: its processes hold several intervals of it; distribute it BLOCK, "
                    "GEN_BLOCK or BALANCED, or by boxes, or give it width 0");
            // Without a border only how many there are counts, wherever they come from.
            parts_.push_back({first, width > 0 ? last : first + held.count()});
        }
    }

    const Interval& part(std::int64_t c) const { return parts_[static_cast<std::size_t>(c)]; }
    std::int64_t parts() const { return static_cast<std::int64_t>(parts_.size()); }
    /// How much of the border below and above the part at c is within the array.
    std::int64_t below(std::int64_t c) const {
        return periodic_ ? width_ : std::min(width_, part(c).first);
    }
    std::int64_t above(std::int64_t c) const {
        return periodic_ ? width_ : std::min(width_, extent_ - part(c).last);
    }

    /// What the part at c wants, in an order that both sides know.
    std::vector<Wish> wishes(std::int64_t c) const {
        std::vector<Wish> found;
        const Interval own = part(c);
        if (own.first == own.last) return found;
        add(found, own.first - below(c), own.first, width_ - below(c));
        add(found, own.last, own.last + above(c), width_ + own.last - own.first);
        return found;
    }

  private:
    void add(std::vector<Wish>& found, std::int64_t first, std::int64_t last,
             std::int64_t at) const {
        while (first < last) {
            const std::int64_t index = base::floor_mod(first, extent_);
            const std::int64_t c = axis_.grid < 0 ? 0 : axis_.owner(index);
            const std::int64_t count = std::min(part(c).last - index, last - first);
            found.push_back({c, at, index - part(c).first, count});
            first += count;
            at += count;
        }
    }

    layout::Axis axis_;
    std::int64_t extent_, width_;
    bool periodic_;
    std::vector<Interval> parts_;
};

// The boxes of one process.
class Making {
  public:
    Making(const layout::Form& form, std::int64_t itemsize, const Shape& width, const Shape& place,
           const std::vector<Dimension>& dimensions, Order order)
        : form_(form), itemsize_(itemsize), width_(width), place_(place), dimensions_(dimensions) {
        for (std::size_t d = 0; d < width.size(); ++d) {
            const Interval part = dimensions[d].part(form.coordinate(d, place));
            shape_.push_back(part.last - part.first + 2 * width[d]);
        }
        strides_ = dense_strides_in(order, shape_, itemsize);
    }

    HaloPhase phase(std::size_t d) const {
        HaloPhase made;
        const Dimension& along = dimensions_[d];
        const std::int64_t me = form_.coordinate(d, place_);
        for (const Wish& wish : along.wishes(me)) {
            if (wish.holder == me) {
                Strip strip = box(d, wish.at, wish.count, -1);
                strip.source_offset = box(d, width_[d] + wish.from, wish.count, -1).offset;
                strip.copy = kernel::Copy(extents(d, wish.count), itemsize_, strides_, strides_);
                made.local.push_back(std::move(strip));
            } else {
                made.receives.push_back(box(d, wish.at, wish.count, rank_at(d, wish.holder)));
                Strip& strip = made.receives.back();
                const Shape from = dense_strides(extents(d, wish.count), itemsize_);
                strip.copy = kernel::Copy(extents(d, wish.count), itemsize_, from, strides_);
            }
        }
        for (std::int64_t c = 0; c < along.parts(); ++c) {
            if (c == me) continue;
            for (const Wish& wish : along.wishes(c)) {
                if (wish.holder != me) continue;
                Strip strip = box(d, width_[d] + wish.from, wish.count, rank_at(d, c));
                const Shape to = dense_strides(extents(d, wish.count), itemsize_);
                strip.copy = kernel::Copy(extents(d, wish.count), itemsize_, strides_, to);
                made.sends.push_back(std::move(strip));
            }
        }
        return made;
    }

  private:
    // Of what travels along d: all that is filled by now of the dimensions before it, the local
    // elements of those after it.
    Shape extents(std::size_t d, std::int64_t count) const {
        Shape found(shape_);
        for (std::size_t k = 0; k < found.size(); ++k) {
            const std::int64_t c = form_.coordinate(k, place_);
            found[k] -= 2 * width_[k];
            if (k < d) found[k] += dimensions_[k].below(c) + dimensions_[k].above(c);
        }
        found[d] = count;
        return found;
    }

    Strip box(std::size_t d, std::int64_t at, std::int64_t count, int rank) const {
        std::int64_t offset = 0, bytes = itemsize_;
        for (std::size_t k = 0; k < shape_.size(); ++k) {
            const std::int64_t c = form_.coordinate(k, place_);
            const std::int64_t first = k == d  ? at
                                       : k < d ? width_[k] - dimensions_[k].below(c)
                                               : width_[k];
            offset += first * strides_[k];
        }
        for (const auto extent : extents(d, count)) bytes *= extent;
        return {rank, bytes, offset, 0, {}};
    }

    int rank_at(std::size_t d, std::int64_t coordinate) const {
        Shape there = place_;
        there[static_cast<std::size_t>(form_.axes[d].grid)] = coordinate;
        return static_cast<int>(form_.process_at(form_.position(there)));
    }

    const layout::Form& form_;
    std::int64_t itemsize_;
    const Shape &width_, &place_;
    const std::vector<Dimension>& dimensions_;
    Shape shape_, strides_;
};

using Ranges = std::vector<layout::Range>;

// The border of boxes, in one phase: a process asks those that hold its elements, corners and all.
class BoxBorders {
  public:
    BoxBorders(const layout::Form& form, std::int64_t itemsize, const Shape& width,
               const std::vector<bool>& periodic, Order order)
        : form_(form), itemsize_(itemsize), width_(width), periodic_(periodic), order_(order) {}

    HaloPhase phase(std::int64_t me) const {
        HaloPhase made;
        for (const Wish& wish : wishes(me)) {
            const Strip strip = at(me, wish.box, wish.shift, wish.holder);
            if (wish.holder != me) {
                made.receives.push_back(strip);
                made.receives.back().copy = copy(wish.box, me, false);
                continue;
            }
            made.local.push_back(strip);
            made.local.back().rank = -1;
            made.local.back().source_offset = at(me, wish.box, no_shift(), -1).offset;
            made.local.back().copy =
                kernel::Copy(extents(wish.box), itemsize_, strides(me), strides(me));
        }
        for (const std::int64_t other : askers(me)) {
            if (other == me) continue;
            for (const Wish& wish : wishes(other)) {
                if (wish.holder != me) continue;
                made.sends.push_back(at(me, wish.box, no_shift(), static_cast<int>(other)));
                made.sends.back().copy = copy(wish.box, me, true);
            }
        }
        return made;
    }

  private:
    // Elements of `box` (indices of the array), which lie `shift` on in the asker's border.
    struct Wish {
        std::int64_t holder;
        Ranges box;
        Shape shift;
    };

    Shape no_shift() const { return Shape(width_.size(), 0); }

    /// Calls `visit(box, shift)` for the parts of a box with a border that lie within the array,
    /// and how much further on they are where the array goes round.
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

    /// What a process wants, in an order that all know.
    std::vector<Wish> wishes(std::int64_t process) const {
        std::vector<Wish> found;
        const Ranges& own = form_.boxes->box(process).ranges;
        const layout::BoxIndex& holders = form_.boxes->sent();
        for_rounds(own, [&](const Ranges& part, const Shape& shift) {
            std::vector<std::int64_t> hits;
            holders.for_meeting(part, [&](std::int64_t k) {
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
                for (Ranges& box : outside)
                    found.push_back({holders.process(k), std::move(box), shift});
            }
        });
        return found;
    }

    /// The processes whose border may want what one sends.
    std::vector<std::int64_t> askers(std::int64_t process) const {
        std::vector<std::int64_t> found;
        const layout::BoxIndex& sent = form_.boxes->sent();
        const layout::Range numbers = sent.of(process);
        for (std::int64_t k = numbers.first; k < numbers.last; ++k)
            for_rounds({sent.box(k).begin(), sent.box(k).end()},
                       [&](const Ranges& part, const Shape&) {
                           form_.boxes->held().for_meeting(part, [&](std::int64_t other) {
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

    Shape strides(std::int64_t process) const {
        Shape shape = extents(form_.boxes->box(process).ranges);
        for (std::size_t d = 0; d < shape.size(); ++d) shape[d] += 2 * width_[d];
        return dense_strides_in(order_, shape, itemsize_);
    }

    kernel::Copy copy(const Ranges& box, std::int64_t process, bool pack) const {
        const Shape dense = dense_strides(extents(box), itemsize_), own = strides(process);
        return {extents(box), itemsize_, pack ? own : dense, pack ? dense : own};
    }

    Strip at(std::int64_t process, const Ranges& box, const Shape& shift, std::int64_t rank) const {
        const Ranges& own = form_.boxes->box(process).ranges;
        const Shape steps = strides(process);
        std::int64_t offset = 0, bytes = itemsize_;
        for (std::size_t d = 0; d < box.size(); ++d) {
            offset += (box[d].first + shift[d] - own[d].first + width_[d]) * steps[d];
            bytes *= box[d].last - box[d].first;
        }
        return {static_cast<int>(rank), bytes, offset, 0, {}};
    }

    const layout::Form& form_;
    std::int64_t itemsize_;
    const Shape& width_;
    const std::vector<bool>& periodic_;
    Order order_;
};

}  // namespace

Shape dense_strides_in(Order order, const Shape& shape, std::int64_t itemsize) {
    if (order == Order::row_major) return dense_strides(shape, itemsize);
    const Shape strides = dense_strides({shape.rbegin(), shape.rend()}, itemsize);
    return {strides.rbegin(), strides.rend()};
}

HaloWork halo_work(const Layout& layout, std::int64_t rank, const DType& dtype, const Shape& width,
                   const std::vector<bool>& periodic, Order order) {
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
    std::string turning;
    for (const bool flag : periodic) turning += flag ? '1' : '0';
    HaloWork work;
    work.text = "halo.exchange(" + dtype.name + " " + layout::label(layout.form()) +
                ", width=" + text::tuple(width) + (turning.empty() ? "" : ", periodic=" + turning) +
                ")";
    for (std::size_t d = 0; d < dimensions; ++d)
        if (width[d] < 0)
            throw LayoutError("a halo of width " + std::to_string(width[d]) + " along dimension " +
                              std::to_string(d) + " cannot be; give 0 or more");
    if (form.boxes) {
        if (rank >= 0 && form.local_elements(rank) > 0)
            work.phases.push_back(BoxBorders(form, dtype.size, width, periodic, order).phase(rank));
        return work;
    }
    std::vector<Dimension> along;
    for (std::size_t d = 0; d < dimensions; ++d) {
        along.emplace_back(form, d, width[d], !periodic.empty() && periodic[d]);
    }
    const auto place = rank < 0 ? std::nullopt : form.place(rank);
    if (!place || form.local_elements(rank) == 0) return work;
    const Making making(form, dtype.size, width, *place, along, order);
    for (std::size_t d = 0; d < dimensions; ++d)
        if (width[d] > 0) work.phases.push_back(making.phase(d));
    return work;
}

}  // namespace hocket::transfer
