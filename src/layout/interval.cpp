// SPDX-License-Identifier: BSD-3-Clause
#include "layout/interval.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace hocket::layout {

std::int64_t volume(std::span<const Range> box) {
    std::int64_t count = 1;
    for (const Range& range : box) count *= std::max<std::int64_t>(0, range.last - range.first);
    return count;
}

std::vector<Range> common_box(std::span<const Range> a, std::span<const Range> b) {
    std::vector<Range> common;
    for (std::size_t d = 0; d < a.size(); ++d)
        common.push_back({std::max(a[d].first, b[d].first), std::min(a[d].last, b[d].last)});
    return common;
}

void add_outside(std::vector<Range> box, std::span<const Range> hole,
                 std::vector<std::vector<Range>>& out) {
    const std::vector<Range> common = common_box(box, hole);
    if (volume(common) == 0) {
        out.push_back(std::move(box));
        return;
    }
    for (std::size_t d = 0; d < box.size(); ++d) {
        for (const Range& side :
             {Range{box[d].first, common[d].first}, Range{common[d].last, box[d].last}}) {
            if (side.first >= side.last) continue;
            out.push_back(box);
            out.back()[d] = side;
        }
        box[d] = common[d];
    }
}

namespace {

/// Positions [first, last) of the dimensions from `d` on; `above` has the ranges of earlier
/// dimensions.
void cut(std::span<const std::int64_t> extents, std::size_t d, std::int64_t first,
         std::int64_t last, std::vector<Range>& above, std::vector<std::vector<Range>>& out) {
    if (first >= last) return;
    if (d == extents.size()) {
        out.push_back(above);
        return;
    }
    std::int64_t inner = 1;
    for (std::size_t i = d + 1; i < extents.size(); ++i) inner *= extents[i];
    const auto rows = [&](std::int64_t row, std::int64_t end, std::int64_t from, std::int64_t to) {
        above.push_back({row, end});
        cut(extents, d + 1, from, to, above, out);
        above.pop_back();
    };
    const std::int64_t head = base::ceil_div(first, inner), tail = last / inner;
    if (head > tail) {  // within one row
        rows(tail, tail + 1, first - tail * inner, last - tail * inner);
        return;
    }
    if (head * inner > first) rows(head - 1, head, first - (head - 1) * inner, inner);
    if (head < tail) rows(head, tail, 0, inner);
    if (tail * inner < last) rows(tail, tail + 1, 0, last - tail * inner);
}

}  // namespace

std::vector<std::vector<Range>> boxes_of_interval(std::span<const std::int64_t> extents,
                                                  std::int64_t first, std::int64_t last) {
    std::vector<std::vector<Range>> out;
    std::vector<Range> above;
    cut(extents, 0, first, last, above, out);
    return out;
}

}  // namespace hocket::layout
