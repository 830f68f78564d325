// SPDX-License-Identifier: BSD-3-Clause
// Alignment with boxes and with lists: computes the part of the array for each process's part of
// the template.
#include <algorithm>
#include <optional>
#include <span>

#include "layout/form.hpp"
#include "layout/interval.hpp"

namespace hocket::layout {

namespace {

std::size_t as_index(int dimension) {
    return static_cast<std::size_t>(dimension);
}

using Ranges = std::vector<Range>;

/// The indices of an array in a box of template positions; nothing if a constant, or every copy, is
/// outside the box.
std::optional<Ranges> aligned_with(std::span<const Range> box, const Shape& shape,
                                   std::span<const Subscript> alignment) {
    Ranges result;
    for (const std::int64_t extent : shape) result.push_back({0, extent});
    for (std::size_t t = 0; t < alignment.size(); ++t) {
        const Subscript& s = alignment[t];
        Axis axis;
        axis.stride = s.stride;
        axis.offset = s.offset;
        axis.extent = s.kind == Subscript::Kind::any        ? s.count
                      : s.kind == Subscript::Kind::constant ? 1
                                                            : shape[as_index(s.dimension)];
        if (s.kind == Subscript::Kind::constant) axis.stride = 1;
        const Run run = axis.indices(box[t].first, box[t].last);
        if (s.kind == Subscript::Kind::index)
            result[as_index(s.dimension)] = {run.first, run.first + run.length};
        else if (run.length == 0)
            return std::nullopt;
    }
    return result;
}

/// Appends the runs of row-major elements in a box of indices.
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
        if (box[d].first < box[d].last)
            runs.push_back({place * shape[d] + box[d].first, box[d].last - box[d].first});
        return;
    }
    for (std::int64_t i = box[d].first; i < box[d].last; ++i)
        add_runs(box, shape, d + 1, place * shape[d] + i, runs);
}

/// The same in the order of positions, which increase along the template's last dimension only.
void add_row(Ranges box, std::span<const std::int64_t> shape, const Subscript& last,
             std::vector<Run>& runs) {
    if (last.kind != Subscript::Kind::index) {
        add_runs(box, shape, 0, 0, runs);
        return;
    }
    const std::size_t d = as_index(last.dimension);
    const Range whole = box[d];
    for (std::int64_t k = 0; k < whole.last - whole.first; ++k) {
        const std::int64_t i = last.stride > 0 ? whole.first + k : whole.last - 1 - k;
        box[d] = {i, i + 1};
        add_runs(box, shape, 0, 0, runs);
    }
}

/// Runs in increasing order, each element once.
void unite(std::vector<Run>& runs) {
    std::sort(runs.begin(), runs.end(),
              [](const Run& a, const Run& b) { return a.first < b.first; });
    std::vector<Run> united;
    for (const Run& run : runs) {
        if (!united.empty() && run.first <= united.back().first + united.back().length)
            united.back().length =
                std::max(united.back().length, run.first + run.length - united.back().first);
        else
            united.push_back(run);
    }
    runs = std::move(united);
}

Form aligned_with_boxes(Shape shape, std::span<const Subscript> alignment, const Form& target) {
    std::vector<ProcessBox> boxes;
    for (std::int64_t r = 0; r < target.size; ++r) {
        const ProcessBox& box = target.boxes->box(r);
        std::optional<Ranges> ranges;
        if (!box.none) ranges = aligned_with(box.ranges, shape, alignment);
        boxes.push_back(ranges ? ProcessBox{std::move(*ranges), false} : no_box(shape.size()));
    }
    return make_form(std::move(shape), std::move(boxes));
}

/// Listed elements keep the order of the template's elements. If copies of an element belong to
/// several of these, or to segments, they are in increasing order.
Form aligned_with_lists(Shape shape, std::span<const Subscript> alignment, const Form& target) {
    bool several = false;
    for (const Subscript& s : alignment)
        several = several || (s.kind == Subscript::Kind::any && s.count > 1);
    const bool keep_order = target.segments->listed() && !several;
    std::vector<std::vector<Run>> lists(static_cast<std::size_t>(target.size));
    for (std::size_t r = 0; r < lists.size(); ++r) {
        for (const Segment& segment : target.segments->in_order(static_cast<std::int64_t>(r))) {
            for (const Ranges& box :
                 boxes_of_interval(target.shape, segment.first, segment.last())) {
                const auto add = [&](const Ranges& part) {
                    std::optional<Ranges> ranges = aligned_with(part, shape, alignment);
                    if (!ranges) return;
                    if (keep_order && !alignment.empty())
                        add_row(std::move(*ranges), shape, alignment.back(), lists[r]);
                    else
                        add_runs(*ranges, shape, 0, 0, lists[r]);
                };
                if (!keep_order || box.empty()) {
                    add(box);
                    continue;
                }
                // Row by row, because the order matters.
                Ranges row = box;
                const auto rows = [&](auto& self, std::size_t d) -> void {
                    if (d + 1 == box.size()) {
                        add(row);
                        return;
                    }
                    for (std::int64_t i = box[d].first; i < box[d].last; ++i) {
                        row[d] = {i, i + 1};
                        self(self, d + 1);
                    }
                };
                rows(rows, 0);
            }
        }
        if (!keep_order) unite(lists[r]);
    }
    return make_form(std::move(shape), lists, target.segments->listed() || several);
}

}  // namespace

Form make_aligned(Shape shape, std::vector<Subscript> alignment, const Form& target) {
    if (target.gridded()) return make_form(std::move(shape), std::move(alignment), target);
    check_alignment(shape, alignment, target);
    if (target.boxes) return aligned_with_boxes(std::move(shape), alignment, target);
    return aligned_with_lists(std::move(shape), alignment, target);
}

}  // namespace hocket::layout
