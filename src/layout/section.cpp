// SPDX-License-Identifier: BSD-3-Clause
// Sections: A(1:n:2, :) is an array that is aligned with A.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/checked.hpp"
#include "base/numbering.hpp"
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
        const std::string name = "slice (first " + text::number(s.first) + ", count " +
                                 std::to_string(s.count) + ", step " + std::to_string(s.step) +
                                 ") of dimension " + text::number(d);
        if (s.count < 0) throw LayoutError(name + " has a negative count");
        if (s.step == 0) throw LayoutError(name + " has step 0; give a step other than 0");
        if (!s.keep && s.count != 1)
            throw LayoutError(name + " drops its dimension, so that it must have one index");
        if (s.count == 0) continue;
        const base::wide last = s.first + static_cast<base::wide>(s.step) * (s.count - 1);
        if (s.first < 0 || s.first >= extent || last < 0 || last >= extent)
            throw LayoutError(name + " leaves the shape " + text_of(form.shape) +
                              "; its indices are " + text::number(std::int64_t{0}) + " to " +
                              text::number(extent - 1));
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

namespace {

/// Local positions as a slice, if they are equally spaced.
class Progression {
  public:
    /// Appends `count` positions, `step` apart.
    void append(std::int64_t first, std::int64_t count, std::int64_t step) {
        if (!first_)
            first_ = first;
        else
            note(first - last_);
        if (count > 1) note(step);
        last_ = first + step * (count - 1);
    }
    bool regular() const { return regular_; }
    /// With `count` positions: the others continue those that were appended.
    std::optional<Slice> slice(std::int64_t count) const {
        if (!regular_) return std::nullopt;
        return Slice{first_.value_or(0), count, step_.value_or(1), true};
    }

  private:
    void note(std::int64_t distance) {
        regular_ = regular_ && distance == step_.value_or(distance);
        step_ = distance;
    }
    std::optional<std::int64_t> first_, step_;
    std::int64_t last_ = 0;
    bool regular_ = true;
};

}  // namespace

std::optional<Slice> positions(const IndexSet& own, const IndexSet& held, std::int64_t first,
                               std::int64_t step) {
    Progression found;
    if (held.empty()) return found.slice(0);
    // One period of `held` decides, if `own` is one interval, or if it is a number of periods of
    // `own`.
    const bool periodic =
        held.repeats() &&
        (own.repeats() ? static_cast<base::wide>(held.period()) * step % own.period() == 0
                       : own.runs().size() == 1);
    const std::int64_t enough =
        periodic ? std::min(held.count(), held.per_period() + 1) : held.count();
    for_runs(held, 0, held.element(enough - 1) + 1, [&](std::int64_t j, std::int64_t last) {
        while (j < last && found.regular()) {
            const std::int64_t index = first + step * j;
            const std::int64_t begin = own.repeats() ? index / own.period() * own.period() : 0;
            const Run& run = own.runs()[own.first_run_after(index - begin)];
            const std::int64_t left =
                step > 0 ? begin + run.first + run.length - 1 - index : index - begin - run.first;
            const std::int64_t count = std::min(left / std::abs(step) + 1, last - j);
            found.append(own.count_below(index), count, step);
            j += count;
        }
    });
    return found.slice(held.count());
}

namespace {

/// The positions, in explicit segments or a list, of a section's elements.
std::vector<std::int64_t> listed_positions(const Form& form, const Form& section,
                                           std::span<const Slice> slices, std::int64_t rank) {
    const Layout part(std::make_shared<const Form>(section));
    std::vector<std::int64_t> places = part.global_indices(rank)[0];
    for (std::int64_t& place : places) {
        const Shape index = unflatten(place, section.shape);
        Shape whole(slices.size());
        std::size_t next = 0;
        for (std::size_t d = 0; d < slices.size(); ++d)
            whole[d] = slices[d].first + (slices[d].keep ? slices[d].step * index[next++] : 0);
        place = form.segments->local(rank, flatten(whole, form.shape));
    }
    return places;
}

}  // namespace

}  // namespace hocket::layout

namespace hocket {

std::vector<std::vector<std::int64_t>> Layout::section_places(std::span<const Slice> slices,
                                                              std::int64_t rank) const {
    form_->check_rank(rank);
    const layout::Form section = layout::make_section(*form_, slices);
    if (form_->indexed()) return {layout::listed_positions(*form_, section, slices, rank)};
    const std::vector<layout::IndexSet> held = section.sets(rank), own = form_->sets(rank);
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

std::vector<std::optional<Slice>> Layout::section_slices(std::span<const Slice> slices,
                                                         std::int64_t rank) const {
    form_->check_rank(rank);
    const layout::Form section = layout::make_section(*form_, slices);
    if (form_->indexed()) {
        layout::Progression found;
        const auto places = layout::listed_positions(*form_, section, slices, rank);
        for (const std::int64_t place : places) found.append(place, 1, 1);
        return {found.slice(static_cast<std::int64_t>(places.size()))};
    }
    const std::vector<layout::IndexSet> held = section.sets(rank), own = form_->sets(rank);
    std::vector<std::optional<Slice>> result(slices.size(), Slice{0, 0, 1, true});
    if (!section.place(rank)) return result;
    std::size_t next = 0;
    for (std::size_t d = 0; d < slices.size(); ++d)
        result[d] = slices[d].keep
                        ? layout::positions(own[d], held[next++], slices[d].first, slices[d].step)
                        : Slice{own[d].count_below(slices[d].first), 1, 1, false};
    return result;
}

}  // namespace hocket
