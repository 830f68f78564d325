// SPDX-License-Identifier: BSD-3-Clause
// Sections: A(1:n:2, :) is an array that is aligned with A.
#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "layout/form.hpp"

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
    return make_aligned(std::move(shape), std::move(alignment), form);
}

}  // namespace hocket::layout

namespace hocket {

std::vector<std::vector<std::int64_t>> Layout::section_places(std::span<const Slice> slices,
                                                              std::int64_t rank) const {
    form_->check_rank(rank);
    const layout::Form section = layout::make_section(*form_, slices);
    const std::vector<layout::IndexSet> held = section.sets(rank), own = form_->sets(rank);
    if (form_->indexed()) {
        const Layout part(std::make_shared<const layout::Form>(section));
        std::vector<std::int64_t> places = part.global_indices(rank)[0];
        for (std::int64_t& place : places) {
            const Shape index = layout::unflatten(place, section.shape);
            Shape whole(slices.size());
            std::size_t next = 0;
            for (std::size_t d = 0; d < slices.size(); ++d)
                whole[d] = slices[d].first + (slices[d].keep ? slices[d].step * index[next++] : 0);
            place = form_->segments->local(rank, layout::flatten(whole, form_->shape));
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
        result[d] = held[next++].list();
        std::size_t hint = 0;
        for (std::int64_t& j : result[d])
            j = own[d].count_below(slices[d].first + slices[d].step * j, hint);
    }
    return result;
}

}  // namespace hocket
