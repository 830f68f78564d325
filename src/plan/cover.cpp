// SPDX-License-Identifier: BSD-3-Clause
#include "plan/cover.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "layout/interval.hpp"

namespace hocket::plan {

namespace {

using layout::Range;
using Found = std::optional<std::int64_t>;  // a row-major element number of the destination's array

class Search {
  public:
    explicit Search(const Problem& problem)
        : from_(problem.source.form()),
          to_(problem.destination.form()),
          turned_(problem.turned()),
          strides_(layout::strides_of(from_.shape)) {
        for (const std::int64_t axis : problem.options.axes)
            axes_.push_back(static_cast<std::size_t>(axis));
    }

    Found run() {
        const bool lists = from_.indexed() && !turned_;
        if (to_.gridded() && lists) return from_.segments->gap(0, to_.elements);
        if (to_.gridded() && from_.indexed()) return first_corner();
        Found least;
        if (!to_.indexed()) {
            const auto look = [&](std::vector<Range> box) {
                if (const Found gap = within(box, 0)) least = std::min(least.value_or(*gap), *gap);
            };
            if (to_.gridded()) {
                std::vector<Range> all;
                for (const std::int64_t extent : to_.shape) all.push_back({0, extent});
                look(std::move(all));
                return least;
            }
            const layout::BoxIndex& boxes = to_.boxes->held();
            for (std::int64_t k = 0; k < boxes.count(); ++k)
                look({boxes.box(k).begin(), boxes.box(k).end()});
            return least;
        }
        // Each held element has one sender, so these are all of them, in order.
        for (const layout::Segment& segment : to_.segments->sent().all()) {
            if (lists) {
                if (const Found gap = from_.segments->gap(segment.first, segment.last()))
                    return gap;
                continue;
            }
            for (std::vector<Range>& box :
                 layout::boxes_of_interval(to_.shape, segment.first, segment.last()))
                if (const Found gap = within(box, 0)) return gap;
        }
        return std::nullopt;
    }

  private:
    /// The destination needs all elements: the smallest of the first elements of gaps, as boxes.
    Found first_corner() const {
        Found least;
        Shape index(axes_.size());
        for (const layout::Run& gap : from_.segments->gaps()) {
            for (const std::vector<Range>& box :
                 layout::boxes_of_interval(from_.shape, gap.first, gap.first + gap.length)) {
                for (std::size_t j = 0; j < axes_.size(); ++j) index[j] = box[axes_[j]].first;
                const std::int64_t place = layout::flatten(index, to_.shape);
                least = std::min(least.value_or(place), place);
            }
        }
        return least;
    }

    /// Whether the source may lack elements of a box of the destination; exact for one element. For
    /// a list: whether there is a gap between the box's first and last element.
    bool may_lack(const std::vector<Range>& box) const {
        if (from_.boxes) {
            std::vector<Range> there(box.size());
            std::int64_t lacking = 1;
            for (std::size_t j = 0; j < box.size(); ++j) {
                there[axes_[j]] = box[j];
                lacking *= box[j].last - box[j].first;
            }
            const layout::BoxIndex& boxes = from_.boxes->sent();
            boxes.for_intersecting(there, [&](std::int64_t k) {
                std::int64_t count = 1;
                for (std::size_t d = 0; d < there.size(); ++d)
                    count *= std::min(there[d].last, boxes.box(k)[d].last) -
                             std::max(there[d].first, boxes.box(k)[d].first);
                lacking -= count;
                return true;
            });
            return lacking > 0;
        }
        std::int64_t first = 0, last = 1;
        for (std::size_t j = 0; j < box.size(); ++j) {
            first += box[j].first * strides_[axes_[j]];
            last += (box[j].last - 1) * strides_[axes_[j]];
        }
        return from_.segments->gap(first, last).has_value();
    }

    /// The first gap in a box of the destination whose ranges before `d` are single indices:
    /// searches one half after the other, in the destination's order.
    Found within(std::vector<Range>& box, std::size_t d) const {
        if (!may_lack(box)) return std::nullopt;
        while (d < box.size() && box[d].last - box[d].first == 1) ++d;
        if (d == box.size()) {
            Shape index;
            for (const Range& range : box) index.push_back(range.first);
            return layout::flatten(index, to_.shape);
        }
        const Range whole = box[d];
        const std::int64_t middle = whole.first + (whole.last - whole.first) / 2;
        Found found;
        for (const Range half : {Range{whole.first, middle}, Range{middle, whole.last}}) {
            box[d] = half;
            found = within(box, d);
            if (found) break;
        }
        box[d] = whole;
        return found;
    }

    const layout::Form &from_, &to_;
    bool turned_;
    Shape strides_;                  // of the source's flattened array
    std::vector<std::size_t> axes_;  // the source's dimension for each of the destination's
};

}  // namespace

bool may_have_gaps(const Layout& source) {
    const layout::Form& from = source.form();
    if (from.gridded() || (from.indexed() && from.segments->gaps().empty())) return false;
    // Disjoint boxes with as many elements as the array have no gaps.
    return !from.boxes || from.boxes->overlap() || from.boxes->total() != from.elements;
}

void check_cover(const Problem& problem) {
    const layout::Form &from = problem.source.form(), &to = problem.destination.form();
    if (!may_have_gaps(problem.source)) return;
    const Found found = Search(problem).run();
    if (!found) return;
    const Shape index = layout::unflatten(*found, to.shape);
    std::string message = "the destination holds element " + layout::text_of(index);
    if (problem.turned()) {
        Shape there(index.size());
        for (std::size_t d = 0; d < index.size(); ++d) there[d] = index[problem.where[d]];
        message += " (the source's " + layout::text_of(there) + ")";
    }
    throw LayoutError(message + ", which no process of the source holds: " + layout::brief(from) +
                      " -> " + layout::brief(to) +
                      "; give it to a source process, or leave it out of the destination");
}

}  // namespace hocket::plan
