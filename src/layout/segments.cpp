// SPDX-License-Identifier: BSD-3-Clause
#include "layout/segments.hpp"

#include <algorithm>
#include <string>

#include "hocket/error.hpp"

namespace hocket::layout {

namespace {

std::string name(const Segment& s) {
    return "(" + std::to_string(s.first) + ", " + std::to_string(s.length) + ") of process " +
           std::to_string(s.process);
}

void check(const Segment& s, std::int64_t elements) {
    if (s.first < 0 || s.length < 0)
        throw LayoutError("segment " + name(s) +
                          " is negative; give (first, length) with first >= 0 and length >= 0");
    if (s.first > elements || s.length > elements - s.first)
        throw LayoutError("segment " + name(s) + " leaves the array of " +
                          std::to_string(elements) + " elements; it must end at " +
                          std::to_string(elements) + " at the latest");
}

}  // namespace

Segments::Segments(std::int64_t elements, const std::vector<std::vector<Run>>& lists) {
    for (std::size_t r = 0; r < lists.size(); ++r)
        for (const Run& run : lists[r]) {
            const Segment segment{run.first, run.length, static_cast<std::int64_t>(r), 0};
            check(segment, elements);
            if (run.length > 0) all_.push_back(segment);
        }
    std::sort(all_.begin(), all_.end(),
              [](const Segment& a, const Segment& b) { return a.first < b.first; });
    std::vector<std::vector<Run>> runs(lists.size());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (i > 0 && all_[i].first < all_[kept - 1].first + all_[kept - 1].length)
            throw LayoutError("segments " + name(all_[i - 1]) + " and " + name(all_[i]) +
                              " overlap; each element belongs to one process at most");
        held_ += all_[i].length;
        std::vector<Run>& own = runs[static_cast<std::size_t>(all_[i].process)];
        const bool touches = kept > 0 && all_[kept - 1].process == all_[i].process &&
                             all_[kept - 1].first + all_[kept - 1].length == all_[i].first;
        if (touches) {
            all_[kept - 1].length += all_[i].length;
            own.back().length += all_[i].length;
        } else {
            own.push_back({all_[i].first, all_[i].length});
            all_[kept++] = all_[i];
        }
    }
    all_.resize(kept);
    for (std::vector<Run>& own : runs) sets_.emplace_back(elements, elements, std::move(own));
    std::vector<std::int64_t> next(lists.size(), 0);
    for (Segment& segment : all_) {
        std::int64_t& local = next[static_cast<std::size_t>(segment.process)];
        segment.local = local;
        local += segment.length;
    }
    std::int64_t end = 0;
    for (const Segment& segment : all_) {
        if (segment.first > end) gaps_.push_back({end, segment.first - end});
        end = segment.first + segment.length;
    }
    if (end < elements) gaps_.push_back({end, elements - end});
}

std::span<const Segment> Segments::within(std::int64_t first, std::int64_t last) const {
    if (first >= last) return {};
    const auto begin = std::partition_point(
        all_.begin(), all_.end(), [&](const Segment& s) { return s.first + s.length <= first; });
    const auto end =
        std::partition_point(begin, all_.end(), [&](const Segment& s) { return s.first < last; });
    return {begin, end};
}

std::optional<std::int64_t> Segments::gap(std::int64_t first, std::int64_t last) const {
    const auto found = std::partition_point(gaps_.begin(), gaps_.end(), [&](const Run& gap) {
        return gap.first + gap.length <= first;
    });
    if (found == gaps_.end() || found->first >= last || first >= last) return std::nullopt;
    return std::max(found->first, first);
}

}  // namespace hocket::layout
