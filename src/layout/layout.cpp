// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/layout.hpp"

#include <algorithm>

#include "base/numbering.hpp"
#include "layout/alignment.hpp"
#include "layout/form.hpp"
#include "layout/text.hpp"

namespace hocket {

namespace {

layout::Form form_of(Shape shape, std::vector<layout::Format> formats, Shape procs,
                     std::span<const std::int64_t> replicate) {
    layout::Template base;
    base.formats = std::move(formats);
    base.shape = std::move(shape);
    base.procs = std::move(procs);
    base.replicate.assign(replicate.begin(), replicate.end());
    return layout::make_form(std::move(base));
}

}  // namespace

Layout::Layout(Shape shape, std::string_view dist, Shape procs,
               std::span<const std::int64_t> replicate)
    : form_(std::make_shared<const layout::Form>(
          form_of(std::move(shape), layout::parse_formats(dist), std::move(procs), replicate))) {}

Layout::Layout(Shape shape, std::span<const Format> formats, Shape procs,
               std::span<const std::int64_t> replicate) {
    std::vector<layout::Format> written;
    for (const Format& format : formats) written.push_back(format.format());
    form_ = std::make_shared<const layout::Form>(
        form_of(std::move(shape), std::move(written), std::move(procs), replicate));
}

Format::Format(std::string_view text)
    : format_(std::make_shared<const layout::Format>(layout::parse_format(text))) {}

Format Format::gen_block(std::span<const std::int64_t> extents) {
    return Format(std::make_shared<const layout::Format>(layout::Format{
        layout::Format::Kind::gen_block, 0,
        std::make_shared<const layout::Partition>(layout::Partition::gen_block(extents))}));
}

Format Format::indirect(std::span<const std::int64_t> owners) {
    return Format(std::make_shared<const layout::Format>(layout::Format{
        layout::Format::Kind::indirect, 0,
        std::make_shared<const layout::Partition>(layout::Partition::indirect(owners))}));
}

std::string Format::text() const {
    return layout::text_of(*format_);
}

Layout Layout::aligned(Shape shape, std::string_view align, const Layout& target,
                       std::int64_t first) {
    layout::Scanner scanner(align, "alignment");
    std::vector<layout::Subscript> subscripts =
        layout::parse_alignment(scanner, shape, target.shape(), first);
    scanner.expect_end();
    return Layout(std::make_shared<const layout::Form>(
        layout::make_aligned(std::move(shape), std::move(subscripts), target.form())));
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

Layout Layout::boxes(Shape shape, std::span<const IndexBox> boxes) {
    std::vector<layout::ProcessBox> checked = layout::checked_boxes(shape, boxes);
    return Layout(std::make_shared<const layout::Form>(
        layout::make_form(std::move(shape), std::move(checked))));
}

Layout Layout::elements(Shape shape, const std::vector<std::vector<std::int64_t>>& lists) {
    std::vector<std::vector<layout::Run>> runs;
    for (const std::vector<std::int64_t>& list : lists) {
        std::vector<layout::Run>& own = runs.emplace_back();
        for (const std::int64_t element : list) {
            if (!own.empty() && own.back().first + own.back().length == element)
                ++own.back().length;
            else
                own.push_back({element, 1});
        }
    }
    return Layout(
        std::make_shared<const layout::Form>(layout::make_form(std::move(shape), runs, true)));
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
    return form_->known_dist.get([this] { return layout::dist_of(*form_); });
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
std::int64_t Layout::num_elements() const {
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
    if (form_->indexed()) {
        std::vector<std::int64_t>& places = result.emplace_back();
        for (const layout::Segment& segment : form_->segments->in_order(rank))
            for (std::int64_t i = 0; i < segment.length; ++i) places.push_back(segment.first + i);
        return result;
    }
    for (const layout::IndexSet& set : form_->sets(rank)) result.push_back(set.list());
    return result;
}

std::vector<Slice> Layout::slices(std::int64_t rank) const {
    form_->check_rank(rank);
    const auto fail = [&](const std::string& why) {
        throw LayoutError("process " + std::to_string(rank) + "'s part of " +
                          layout::brief(*form_) + " is no slice a dimension, because " + why +
                          "; use global_indices()");
    };
    if (form_->indexed()) fail("it is a list of elements");
    std::vector<Slice> result;
    for (const layout::IndexSet& set : form_->sets(rank)) {
        const auto slice = layout::positions(layout::whole(set.extent()), set, 0, 1);
        if (!slice)
            fail("its indices of dimension " + text::number(result.size()) +
                 " are not equally spaced");
        result.push_back(*slice);
    }
    return result;
}

std::vector<IndexBox> Layout::to_boxes() const {
    std::vector<IndexBox> result;
    for (std::int64_t rank = 0; rank < size(); ++rank) {
        IndexBox& box = result.emplace_back();
        for (const Slice& slice : slices(rank)) {
            if (slice.step != 1)
                throw LayoutError("process " + std::to_string(rank) + "'s part of " +
                                  layout::brief(*form_) + " is no box: its indices of dimension " +
                                  text::number(box.start.size()) + " have gaps; use slices()");
            box.start.push_back(slice.first);
            box.stop.push_back(slice.first + slice.count);
        }
    }
    return result;
}

std::vector<std::int64_t> Layout::owners(std::span<const std::int64_t> index) const {
    form_->check_index(index);
    if (form_->indexed()) {
        std::vector<std::int64_t> processes;
        const std::int64_t place = layout::flatten(index, form_->shape);
        form_->segments->for_intersecting(place, place + 1, [&](const layout::Segment& segment) {
            processes.push_back(segment.process);
            return true;
        });
        std::sort(processes.begin(), processes.end());
        return processes;
    }
    if (form_->boxes) {
        std::vector<std::int64_t> processes;
        std::vector<layout::Range> point;
        for (const std::int64_t i : index) point.push_back({i, i + 1});
        form_->boxes->held().for_intersecting(point, [&](std::int64_t k) {
            processes.push_back(form_->boxes->held().process(k));
            return true;
        });
        std::sort(processes.begin(), processes.end());
        return processes;
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
        throw LayoutError("no process holds element " + text::numbers(index) +
                          "; it lies in a gap of " + layout::brief(*form_));
    return ranks.front();
}

Shape Layout::local_index(std::span<const std::int64_t> index) const {
    form_->check_index(index);
    Shape result;
    if (!form_->gridded()) {
        const std::int64_t rank = owner(index);
        if (form_->indexed())
            return {form_->segments->local(rank, layout::flatten(index, form_->shape))};
        for (std::size_t d = 0; d < index.size(); ++d)
            result.push_back(index[d] - form_->boxes->box(rank).ranges[d].first);
        return result;
    }
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
