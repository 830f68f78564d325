// SPDX-License-Identifier: BSD-3-Clause
// Sections: A(1:n:2, :) is an array of its own, aligned with A.
#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "layout/form.hpp"
#include "layout/interval.hpp"

namespace hocket::layout {

namespace {

void check_slices(const Form& form, std::span<const Slice> slices) {
    if (slices.size() != form.shape.size())
        throw LayoutError("a section of " + text_of(form.shape) + " needs " +
                          std::to_string(form.shape.size()) + " slices, not " +
                          std::to_string(slices.size()));
    for (std::size_t d = 0; d < slices.size(); ++d) {
        const Slice& s = slices[d];
        const std::int64_t extent = form.shape[d];
        const std::string name = "slice (first " + std::to_string(s.first) + ", count " +
                                 std::to_string(s.count) + ", step " + std::to_string(s.step) +
                                 ") of dimension " + std::to_string(d);
        if (s.count < 0) throw LayoutError(name + " has a negative count");
        if (s.step == 0) throw LayoutError(name + " has step 0; give a step other than 0");
        if (!s.keep && s.count != 1)
            throw LayoutError(name + " drops its dimension, so that it must have one index");
        if (s.count == 0) continue;
        const base::wide last = s.first + static_cast<base::wide>(s.step) * (s.count - 1);
        if (s.first < 0 || s.first >= extent || last < 0 || last >= extent)
            throw LayoutError(name + " leaves the shape " + text_of(form.shape) +
                              "; its indices are 0 to " + std::to_string(extent - 1));
    }
}

/// Indices j of the section with first + step*j in [range.first, range.last).
Range within(const Slice& s, const Range& range) {
    const bool back = s.step < 0;
    const std::int64_t step = back ? -s.step : s.step;
    const std::int64_t low = back ? s.first - (range.last - 1) : range.first - s.first;
    const std::int64_t high = back ? s.first - range.first + 1 : range.last - s.first;
    return {std::max<std::int64_t>(0, base::ceil_div(low, step)),
            std::min(s.count, base::ceil_div(high, step))};
}

/// Appends the runs of the row-major places that a box of section indices has.
void add_runs(std::span<const Range> box, std::span<const std::int64_t> shape, std::size_t d,
              std::int64_t place, std::vector<Run>& runs) {
    if (d == box.size()) {
        if (!runs.empty() && runs.back().first + runs.back().length == place)
            ++runs.back().length;
        else
            runs.push_back({place, 1});
        return;
    }
    if (d + 1 == box.size()) {
        runs.push_back({place * shape[d] + box[d].first, box[d].last - box[d].first});
        return;
    }
    for (std::int64_t i = box[d].first; i < box[d].last; ++i)
        add_runs(box, shape, d + 1, place * shape[d] + i, runs);
}

Form section_of_segments(const Form& form, std::span<const Slice> slices, Shape shape) {
    std::vector<std::vector<Run>> lists(static_cast<std::size_t>(form.size));
    for (const Segment& segment : form.segments->all()) {
        for (const std::vector<Range>& box :
             boxes_of_interval(form.shape, segment.first, segment.first + segment.length)) {
            std::vector<Range> kept;
            bool empty = false;
            for (std::size_t d = 0; d < slices.size(); ++d) {
                const Range range = within(slices[d], box[d]);
                empty = empty || range.first >= range.last;
                if (slices[d].keep) kept.push_back(range);
            }
            if (!empty)
                add_runs(kept, shape, 0, 0, lists[static_cast<std::size_t>(segment.process)]);
        }
    }
    return make_form(std::move(shape), lists);
}

}  // namespace

Form make_section(const Form& form, std::span<const Slice> slices) {
    check_slices(form, slices);
    Shape shape;
    std::vector<Subscript> alignment;
    for (const Slice& s : slices) {
        if (!s.keep) {
            alignment.push_back({Subscript::Kind::constant, -1, 1, s.first, 0});
            continue;
        }
        const bool single = s.count <= 1;
        alignment.push_back({Subscript::Kind::index, static_cast<int>(shape.size()),
                             single ? 1 : s.step, s.count == 0 ? 0 : s.first, 0});
        shape.push_back(s.count);
    }
    if (form.indexed()) return section_of_segments(form, slices, std::move(shape));
    return make_form(std::move(shape), std::move(alignment), form);
}

}  // namespace hocket::layout

namespace hocket {

std::vector<std::vector<std::int64_t>> Layout::section_places(std::span<const Slice> slices,
                                                              std::int64_t rank) const {
    form_->check_rank(rank);
    const layout::Form section = layout::make_section(*form_, slices);
    const std::vector<layout::IndexSet> held = section.sets(rank), own = form_->sets(rank);
    if (form_->indexed()) {
        std::vector<std::int64_t> places = held[0].list();
        for (std::int64_t& place : places) {
            const Shape index = layout::unflatten(place, section.shape);
            Shape whole(slices.size());
            std::size_t next = 0;
            for (std::size_t d = 0; d < slices.size(); ++d)
                whole[d] = slices[d].first + (slices[d].keep ? slices[d].step * index[next++] : 0);
            place = own[0].count_below(layout::flatten(whole, form_->shape));
        }
        return {places};
    }
    std::vector<std::vector<std::int64_t>> result(slices.size());
    if (!section.place(rank)) return result;
    std::size_t next = 0;
    for (std::size_t d = 0; d < slices.size(); ++d) {
        if (!slices[d].keep) {
            result[d].push_back(own[d].count_below(slices[d].first));
            continue;
        }
        for (const std::int64_t j : held[next++].list())
            result[d].push_back(own[d].count_below(slices[d].first + slices[d].step * j));
    }
    return result;
}

}  // namespace hocket
