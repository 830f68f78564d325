// SPDX-License-Identifier: BSD-3-Clause
#include "layout/boxes.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "layout/form.hpp"

namespace hocket::layout {

bool ProcessBox::empty() const {
    return none || std::any_of(ranges.begin(), ranges.end(),
                               [](const Range& range) { return range.first >= range.last; });
}

Boxes::Boxes(const Shape& shape, std::vector<ProcessBox> boxes)
    : boxes_(std::move(boxes)), held_(shape.size()) {
    for (std::size_t r = 0; r < boxes_.size(); ++r)
        if (!boxes_[r].empty()) held_.add(static_cast<std::int64_t>(r), boxes_[r].ranges);
    count();
}

Boxes::Boxes(const Shape& shape, std::vector<std::int64_t> processes, std::vector<ProcessBox> boxes)
    : listed_(true),
      processes_(std::move(processes)),
      boxes_(std::move(boxes)),
      nothing_(no_box(shape.size())),
      held_(shape.size()) {
    for (std::size_t k = 0; k < boxes_.size(); ++k)
        if (!boxes_[k].empty()) held_.add(processes_[k], boxes_[k].ranges);
    count();
}

std::vector<std::int64_t> Boxes::processes() const {
    std::vector<std::int64_t> with_box;
    for (std::size_t k = 0; k < boxes_.size(); ++k)
        if (!boxes_[k].none)
            with_box.push_back(listed_ ? processes_[k] : static_cast<std::int64_t>(k));
    return with_box;
}

void Boxes::count() {
    held_.build();
    overlap_ = any_overlaps(held_);
    for (std::int64_t k = 0; k < held_.count(); ++k) {
        const auto total = base::sum(total_, held_.volume(k));
        if (!total)
            throw LayoutError(
                "the boxes of all processes hold more than 2^63 - 1 elements, copies "
                "counted; make them smaller");
        total_ = *total;
    }
}

const BoxIndex& Boxes::sent() const {
    if (!overlap_) return held_;
    return sent_.get([this] { return senders_of(held_, held_.dimensions()); });
}

std::vector<ProcessBox> checked_boxes(const Shape& shape, std::span<const IndexBox> boxes) {
    std::vector<ProcessBox> result;
    result.reserve(boxes.size());
    for (std::size_t r = 0; r < boxes.size(); ++r) {
        const Shape &start = boxes[r].start, &stop = boxes[r].stop;
        const auto fail = [&](const std::string& fault) {
            throw LayoutError("the box (" + text::numbers(start) + ", " + text_of(stop) +
                              ") of process " + std::to_string(r) + " " + fault);
        };
        if (start.size() != shape.size() || stop.size() != shape.size())
            fail("needs a start and a stop for each of the " + std::to_string(shape.size()) +
                 " dimensions of shape " + text_of(shape));
        ProcessBox& box = result.emplace_back();
        for (std::size_t d = 0; d < shape.size(); ++d) {
            if (start[d] > stop[d])
                fail("stops before it starts in dimension " + text::number(d) +
                     "; give start <= stop, equal where it is empty");
            if (start[d] < 0 || stop[d] > shape[d])
                fail("leaves the shape " + text_of(shape) + " in dimension " + text::number(d) +
                     "; it must lie within " + text::number(std::int64_t{0}) + " and " +
                     std::to_string(shape[d]));
            box.ranges.push_back({start[d], stop[d]});
        }
    }
    return result;
}

}  // namespace hocket::layout
