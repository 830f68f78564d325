// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/layout.hpp"

#include <algorithm>

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
    // One process for an array that nothing distributes may be written as such.
    const bool undistributed =
        std::all_of(base.formats.begin(), base.formats.end(),
                    [](const layout::Format& f) { return f.kind == layout::Format::Kind::whole; });
    if (undistributed && base.replicate.empty() && base.procs == Shape{1}) base.procs.clear();
    return layout::make_form(std::move(base));
}

}  // namespace

Layout::Layout(Shape shape, std::string_view dist, Shape procs,
               std::span<const std::int64_t> replicate)
    : form_(std::make_shared<const layout::Form>(
          form_of(std::move(shape), dist, std::move(procs), replicate))) {}

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
    if (!form_->takes_part(form_->coordinates(rank))) return 0;
    std::int64_t result = 1;
    for (const std::int64_t extent : local_shape(rank)) {
        if (extent == 0) return 0;
        result *= extent;
    }
    return result;
}

std::vector<std::vector<std::int64_t>> Layout::global_indices(std::int64_t rank) const {
    form_->check_rank(rank);
    std::vector<std::vector<std::int64_t>> result;
    for (const layout::IndexSet& set : form_->sets(rank)) {
        std::vector<std::int64_t>& indices = result.emplace_back();
        indices.reserve(static_cast<std::size_t>(set.count()));
        for (std::int64_t start = 0; start < set.extent(); start += set.period())
            for (const layout::Run& run : set.runs())
                for (std::int64_t i = 0; i < run.length && start + run.first + i < set.extent();
                     ++i)
                    indices.push_back(start + run.first + i);
    }
    return result;
}

std::vector<std::int64_t> Layout::owners(std::span<const std::int64_t> index) const {
    form_->check_index(index);
    std::vector<std::int64_t> ranks{0};
    for (std::size_t g = 0; g < form_->grid.size(); ++g) {
        const layout::Role& role = form_->grid[g];
        const std::int64_t procs = form_->base.procs[g];
        std::int64_t first = role.coordinate, last = first + 1;
        if (role.kind == layout::Role::Kind::copies) {
            first = 0, last = procs;
        } else if (role.kind == layout::Role::Kind::dimension) {
            const auto d = static_cast<std::size_t>(role.dimension);
            first = form_->axes[d].owner(index[d]);
            last = first + 1;
        }
        std::vector<std::int64_t> next;
        next.reserve(ranks.size() * static_cast<std::size_t>(last - first));
        for (const std::int64_t rank : ranks)
            for (std::int64_t c = first; c < last; ++c) next.push_back(rank * procs + c);
        ranks = std::move(next);
    }
    return ranks;
}

std::int64_t Layout::owner(std::span<const std::int64_t> index) const {
    return owners(index).front();
}

Shape Layout::local_index(std::span<const std::int64_t> index) const {
    form_->check_index(index);
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
    return layout::hash(*form_);
}

bool operator==(const Layout& a, const Layout& b) {
    return layout::equal(*a.form_, *b.form_);
}

}  // namespace hocket
