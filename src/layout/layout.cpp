// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/layout.hpp"

#include <algorithm>

#include "layout/alignment.hpp"
#include "layout/form.hpp"
#include "layout/text.hpp"

namespace hocket {

namespace {

layout::Form form_of(Shape shape, std::string_view dist, Shape procs,
                     std::span<const std::int64_t> replicate) {
    layout::Template base;
    base.formats = layout::parse_formats(dist);
    base.shape = std::move(shape);
    base.procs = std::move(procs);
    base.replicate.assign(replicate.begin(), replicate.end());
    return layout::make_form(std::move(base));
}

}  // namespace

Layout::Layout(Shape shape, std::string_view dist, Shape procs,
               std::span<const std::int64_t> replicate)
    : form_(std::make_shared<const layout::Form>(
          form_of(std::move(shape), dist, std::move(procs), replicate))) {}

Layout Layout::aligned(Shape shape, std::string_view align, const Layout& target,
                       std::int64_t first) {
    layout::Scanner scanner(align, "alignment");
    std::vector<layout::Subscript> subscripts =
        layout::parse_alignment(scanner, shape, target.shape(), first);
    scanner.expect_end();
    return Layout(std::make_shared<const layout::Form>(
        layout::make_form(std::move(shape), std::move(subscripts), target.form())));
}

Layout Layout::indexed(Shape shape, const std::vector<std::vector<Segment>>& segments) {
    std::vector<std::vector<layout::Run>> lists;
    for (const std::vector<Segment>& list : segments) {
        std::vector<layout::Run>& runs = lists.emplace_back();
        runs.reserve(list.size());
        for (const Segment& segment : list) runs.push_back({segment.first, segment.length});
    }
    return Layout(std::make_shared<const layout::Form>(layout::make_form(std::move(shape), lists)));
}

Layout Layout::section(std::span<const Slice> slices) const {
    return Layout(std::make_shared<const layout::Form>(layout::make_section(*form_, slices)));
}

Layout Layout::relabeled(std::span<const std::int64_t> ranks, std::int64_t size) const {
    return Layout(
        std::make_shared<const layout::Form>(layout::make_relabeled(*form_, ranks, size)));
}

Layout Layout::parse(std::string_view text) {
    return Layout(std::make_shared<const layout::Form>(layout::parse_layout(text)));
}

Layout Layout::parse(std::string_view text, const Shape& shape) {
    return Layout(std::make_shared<const layout::Form>(layout::parse_layout(text, &shape)));
}

const Shape& Layout::shape() const {
    return form_->shape;
}
const std::string& Layout::dist() const {
    return form_->dist;
}
const Shape& Layout::procs() const {
    return form_->base.procs;
}
const Shape& Layout::replicate() const {
    return form_->base.replicate;
}
std::int64_t Layout::size() const {
    return form_->size;
}
bool Layout::is_indexed() const {
    return form_->indexed();
}
std::int64_t Layout::elements() const {
    return form_->elements;
}

Shape Layout::local_shape(std::int64_t rank) const {
    form_->check_rank(rank);
    Shape result;
    for (const layout::IndexSet& set : form_->sets(rank)) result.push_back(set.count());
    return result;
}

std::int64_t Layout::local_elements(std::int64_t rank) const {
    form_->check_rank(rank);
    return form_->local_elements(rank);
}

std::vector<std::vector<std::int64_t>> Layout::global_indices(std::int64_t rank) const {
    form_->check_rank(rank);
    std::vector<std::vector<std::int64_t>> result;
    for (const layout::IndexSet& set : form_->sets(rank)) result.push_back(set.list());
    return result;
}

std::vector<std::int64_t> Layout::owners(std::span<const std::int64_t> index) const {
    form_->check_index(index);
    if (form_->indexed()) {
        const std::int64_t place = layout::flatten(index, form_->shape);
        for (const layout::Segment& segment : form_->segments->within(place, place + 1))
            return {segment.process};
        return {};
    }
    std::vector<std::int64_t> positions{0};
    for (std::size_t g = 0; g < form_->grid.size(); ++g) {
        const layout::Role& role = form_->grid[g];
        std::vector<std::int64_t> coordinates{role.coordinate};
        if (role.kind == layout::Role::Kind::copies) {
            coordinates = role.holders.list();
        } else if (role.kind == layout::Role::Kind::dimension) {
            const auto d = static_cast<std::size_t>(role.dimension);
            coordinates = {form_->axes[d].owner(index[d])};
        }
        std::vector<std::int64_t> next;
        next.reserve(positions.size() * coordinates.size());
        for (const std::int64_t position : positions)
            for (const std::int64_t c : coordinates)
                next.push_back(position * form_->base.procs[g] + c);
        positions = std::move(next);
    }
    for (std::int64_t& position : positions) position = form_->process_at(position);
    if (form_->order) std::sort(positions.begin(), positions.end());
    return positions;
}

std::int64_t Layout::owner(std::span<const std::int64_t> index) const {
    const std::vector<std::int64_t> ranks = owners(index);
    if (ranks.empty())
        throw LayoutError("no process holds element " +
                          layout::text_of(Shape(index.begin(), index.end())) +
                          "; it lies in a gap between the segments");
    return ranks.front();
}

Shape Layout::local_index(std::span<const std::int64_t> index) const {
    form_->check_index(index);
    if (form_->indexed()) {
        const std::int64_t rank = owner(index);
        return {form_->segments->set(rank).count_below(layout::flatten(index, form_->shape))};
    }
    Shape result;
    for (std::size_t d = 0; d < index.size(); ++d) {
        const layout::Axis& axis = form_->axes[d];
        result.push_back(layout::held_by(axis, axis.owner(index[d])).count_below(index[d]));
    }
    return result;
}

std::string Layout::text() const {
    return layout::text_of(*form_);
}
std::size_t Layout::hash() const {
    return form_->known_hash.get([this] { return layout::hash(*form_); });
}

bool operator==(const Layout& a, const Layout& b) {
    return layout::equal(*a.form_, *b.form_);
}

}  // namespace hocket
