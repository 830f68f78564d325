// SPDX-License-Identifier: BSD-3-Clause
#include "layout/segments.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "hocket/error.hpp"

namespace hocket::layout {

namespace {

std::string name(const Segment& s) {
    return "(" + text::number(s.first) + ", " + std::to_string(s.length) + ") of process " +
           std::to_string(s.process);
}

void check(const Segment& s, std::int64_t elements, bool listed) {
    if (s.length < 0 || (!listed && s.first < 0))
        throw LayoutError("segment " + name(s) +
                          " is negative; give (first, length) with first >= " +
                          text::number(std::int64_t{0}) + " and length >= 0");
    if (s.first >= 0 && s.first <= elements && s.length <= elements - s.first) return;
    if (listed)
        throw LayoutError("element " +
                          text::number(s.first < 0 || s.first >= elements ? s.first : elements) +
                          " of process " + std::to_string(s.process) + " is outside the array of " +
                          std::to_string(elements) + " elements; row-major numbers are " +
                          text::number(std::int64_t{0}) + " to " + text::number(elements - 1));
    throw LayoutError("segment " + name(s) + " leaves the array of " + std::to_string(elements) +
                      " elements; it must end at " + std::to_string(elements) + " at the latest");
}

bool by_process(const Segment& a, const Segment& b) {
    return a.process != b.process ? a.process < b.process : a.first < b.first;
}
bool by_place(const Segment& a, const Segment& b) {
    return a.first < b.first;
}
bool continues(const Segment& a, const Segment& b) {
    return a.process == b.process && a.last() == b.first && a.local + a.length == b.local;
}

/// Appends a segment, or extends the last one.
void append(std::vector<Segment>& segments, const Segment& next) {
    if (!segments.empty() && continues(segments.back(), next))
        segments.back().length += next.length;
    else
        segments.push_back(next);
}

std::span<const Segment> range_of(const std::vector<Segment>& sorted, std::int64_t process) {
    const auto begin = std::partition_point(sorted.begin(), sorted.end(),
                                            [&](const Segment& s) { return s.process < process; });
    const auto end = std::partition_point(begin, sorted.end(),
                                          [&](const Segment& s) { return s.process == process; });
    return {begin, end};
}

}  // namespace

SegmentTable::SegmentTable(std::vector<Segment> segments)
    : by_place_(std::move(segments)), by_process_(by_place_) {
    std::sort(by_place_.begin(), by_place_.end(), by_place);
    if (!std::is_sorted(by_process_.begin(), by_process_.end(), by_process))
        std::sort(by_process_.begin(), by_process_.end(), by_process);
}

std::span<const Segment> SegmentTable::of(std::int64_t process) const {
    return range_of(by_process_, process);
}

std::span<const Segment> SegmentTable::within(std::int64_t first, std::int64_t last) const {
    if (first >= last) return {};
    const auto begin = std::partition_point(by_place_.begin(), by_place_.end(),
                                            [&](const Segment& s) { return s.last() <= first; });
    const auto end = std::partition_point(begin, by_place_.end(),
                                          [&](const Segment& s) { return s.first < last; });
    return {begin, end};
}

Segments::Segments(std::int64_t elements, const std::vector<std::vector<Run>>& lists, bool listed)
    : listed_(listed) {
    std::vector<Segment> all;
    for (std::size_t r = 0; r < lists.size(); ++r) {
        const auto process = static_cast<std::int64_t>(r);
        std::int64_t local = 0;
        for (const Run& run : lists[r]) {
            const Segment segment{run.first, run.length, process, local};
            check(segment, elements, listed);
            if (run.length > 0) append(all, segment);
            local += listed ? run.length : 0;
        }
    }
    std::sort(all.begin(), all.end(), by_process);
    // For each process: no element twice; segments in increasing order get their local positions.
    std::size_t kept = 0;
    for (const Segment& next : all) {
        const bool first = kept == 0 || all[kept - 1].process != next.process;
        if (!first && next.first < all[kept - 1].last()) {
            if (listed)
                throw LayoutError("process " + std::to_string(next.process) + " lists element " +
                                  text::number(next.first) +
                                  " twice; a local array holds an element once");
            throw LayoutError("segments " + name(all[kept - 1]) + " and " + name(next) +
                              " overlap; each element belongs to one process at most");
        }
        Segment segment = next;
        if (!listed) segment.local = first ? 0 : all[kept - 1].local + all[kept - 1].length;
        if (!first && continues(all[kept - 1], segment))
            all[kept - 1].length += segment.length;
        else
            all[kept++] = segment;
    }
    all.resize(kept);
    std::vector<std::vector<Run>> runs(lists.size());
    for (const Segment& segment : all) {
        const auto total = base::sum(total_, segment.length);
        if (!total)
            throw LayoutError(
                "the processes list more than 2^63 - 1 elements, copies counted; "
                "list fewer");
        total_ = *total;
        std::vector<Run>& own = runs[static_cast<std::size_t>(segment.process)];
        if (!own.empty() && own.back().first + own.back().length == segment.first)
            own.back().length += segment.length;
        else
            own.push_back({segment.first, segment.length});
    }
    for (std::vector<Run>& own : runs) sets_.emplace_back(elements, elements, std::move(own));

    std::vector<Segment> placed = all;
    std::sort(placed.begin(), placed.end(), by_place);
    std::int64_t end = 0;
    for (std::size_t i = 0; i < placed.size(); ++i) {
        const Segment& segment = placed[i];
        if (segment.first < end) {
            if (!listed)
                throw LayoutError("segments " + name(placed[i - 1]) + " and " + name(segment) +
                                  " overlap; each element belongs to one process at most");
            copies_ = true;
        }
        if (segment.first > end) gaps_.push_back({end, segment.first - end});
        end = std::max(end, segment.last());
    }
    if (end < elements) gaps_.push_back({end, elements - end});
    if (!copies_) {
        disjoint_ = SegmentTable(std::move(all));
        return;
    }
    held_ = std::move(all);
    index_ = BoxIndex(1);
    for (const Segment& segment : held_) {
        const Range range{segment.first, segment.last()};
        index_.add(segment.process, {&range, 1});
    }
    index_.build();
}

std::span<const Segment> Segments::of(std::int64_t process) const {
    return copies_ ? range_of(held_, process) : disjoint_.of(process);
}

std::vector<Segment> Segments::in_order(std::int64_t process) const {
    const std::span<const Segment> own = of(process);
    std::vector<Segment> result(own.begin(), own.end());
    if (listed_)
        std::sort(result.begin(), result.end(),
                  [](const Segment& a, const Segment& b) { return a.local < b.local; });
    return result;
}

std::int64_t Segments::local(std::int64_t process, std::int64_t place) const {
    const std::span<const Segment> own = of(process);
    const auto after = std::partition_point(own.begin(), own.end(),
                                            [&](const Segment& s) { return s.first <= place; });
    return (after - 1)->local + place - (after - 1)->first;
}

const SegmentTable& Segments::sent() const {
    if (!copies_) return disjoint_;
    return sent_.get([this] {
        const BoxIndex senders = senders_of(index_, 1);
        std::vector<Segment> segments;
        for (std::int64_t k = 0; k < senders.count(); ++k) {
            const Range& range = senders.box(k)[0];
            const std::int64_t process = senders.process(k);
            append(segments,
                   {range.first, range.last - range.first, process, local(process, range.first)});
        }
        return SegmentTable(std::move(segments));
    });
}

std::optional<std::int64_t> Segments::gap(std::int64_t first, std::int64_t last) const {
    const auto found = std::partition_point(gaps_.begin(), gaps_.end(), [&](const Run& gap) {
        return gap.first + gap.length <= first;
    });
    if (found == gaps_.end() || found->first >= last || first >= last) return std::nullopt;
    return std::max(found->first, first);
}

}  // namespace hocket::layout
