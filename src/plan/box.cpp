// SPDX-License-Identifier: BSD-3-Clause
#include "plan/box.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "base/checked.hpp"
#include "layout/family.hpp"

namespace hocket::plan {

using layout::Family;
using layout::IndexSet;

std::int64_t count(const Box& box) {
    std::int64_t result = 1;
    for (const Loop& loop : box.loops) result *= loop.extent;
    return result;
}

bool same_step(const Loop& a, const Loop& b) {
    return a.source_dimension == b.source_dimension && a.source_step == b.source_step &&
           a.destination_dimension == b.destination_dimension &&
           a.destination_step == b.destination_step;
}

namespace {

/// How indices of the source's dimensions address a side's local array: one local dimension for
/// each; for lists one for all, with the strides of the flattened array.
struct Addressing {
    bool flat = false;
    Shape strides;  // for the source's dimensions
    std::vector<std::size_t> dimension;
    std::int64_t base = 0;

    Addressing(const Problem& problem, Side side) : flat(problem.form(side).indexed()) {
        const Shape own = layout::strides_of(problem.form(side).shape);
        for (std::size_t d = 0; d < own.size(); ++d) {
            dimension.push_back(flat ? 0 : problem.dimension(side, d));
            strides.push_back(flat ? own[problem.dimension(side, d)] : 1);
        }
    }
    Shape origin(std::size_t dimensions) const { return flat ? Shape{base} : Shape(dimensions, 0); }
};

/// One box for each combination of families, one of each dimension.
void add_boxes(const std::vector<std::vector<Family>>& families, const Addressing& source,
               const Addressing& destination, std::vector<Box>& out) {
    const std::size_t n = families.size();
    for (const std::vector<Family>& each : families)
        if (each.empty()) return;
    std::vector<std::size_t> choice(n, 0);
    while (true) {
        Box box;
        box.source_first = source.origin(n);
        box.destination_first = destination.origin(n);
        for (std::size_t d = 0; d < n; ++d) {
            const Family& family = families[d][choice[d]];
            const std::size_t a = source.dimension[d], b = destination.dimension[d];
            box.source_first[a] += family.source * source.strides[d];
            box.destination_first[b] += family.destination * destination.strides[d];
            const std::size_t begin = box.loops.size();
            for (const layout::Repeat& repeat : family.repeats)
                if (repeat.count > 1)
                    box.loops.push_back({repeat.count, static_cast<int>(a),
                                         repeat.source * source.strides[d], static_cast<int>(b),
                                         repeat.destination * destination.strides[d]});
            // Periods become outer loops, so that contiguous elements, also of other boxes, move
            // together.
            if (box.loops.size() - begin < 2) continue;
            std::stable_sort(box.loops.begin() + static_cast<std::ptrdiff_t>(begin),
                             box.loops.end(), [](const Loop& x, const Loop& y) {
                                 return std::abs(x.source_step) > std::abs(y.source_step);
                             });
        }
        out.push_back(std::move(box));
        std::size_t d = n;
        while (d > 0 && ++choice[d - 1] == families[d - 1].size()) choice[--d] = 0;
        if (d == 0) return;
    }
}

bool same_loops(const Box& a, const Box& b) {
    return std::equal(
        a.loops.begin(), a.loops.end(), b.loops.begin(), b.loops.end(),
        [](const Loop& x, const Loop& y) { return x.extent == y.extent && same_step(x, y); });
}

/// The loop from one box to the next: one step in one dimension of each side. Extent 0: there is
/// none.
Loop step_between(const Box& a, const Box& b) {
    Loop loop{0, 0, 0, 0, 0};
    if (!same_loops(a, b)) return loop;
    const auto step = [](const Shape& from, const Shape& to, int& dimension, std::int64_t& by) {
        int found = 0;
        for (std::size_t d = 0; d < from.size(); ++d) {
            if (from[d] == to[d]) continue;
            dimension = static_cast<int>(d);
            by = to[d] - from[d];
            ++found;
        }
        return found == 1;
    };
    if (step(a.source_first, b.source_first, loop.source_dimension, loop.source_step) &&
        step(a.destination_first, b.destination_first, loop.destination_dimension,
             loop.destination_step))
        loop.extent = 2;
    return loop;
}

/// Joins equal, equally spaced boxes: segments of a strided block become one box.
std::vector<Box> fold(std::vector<Box> boxes) {
    std::vector<Box> out;
    for (std::size_t i = 0; i < boxes.size();) {
        std::size_t end = i + 1;
        Loop loop{0, 0, 0, 0, 0};
        if (end < boxes.size()) loop = step_between(boxes[i], boxes[end]);
        while (end < boxes.size() && loop.extent > 0) {
            const Loop next = step_between(boxes[end - 1], boxes[end]);
            if (next.extent == 0 || !same_step(loop, next)) break;
            ++end;
        }
        Box box = std::move(boxes[i]);
        if (end - i > 1) {
            loop.extent = static_cast<std::int64_t>(end - i);
            box.loops.insert(box.loops.begin(), loop);
        }
        out.push_back(std::move(box));
        i = end;
    }
    return out;
}

void cut(const Box& box, std::size_t level, std::int64_t first, std::int64_t last,
         std::vector<Box>& out) {
    if (first >= last) return;
    if (first == 0 && last == count(box)) {
        Box whole = box;
        std::erase_if(whole.loops, [](const Loop& loop) { return loop.extent == 1; });
        out.push_back(std::move(whole));
        return;
    }
    // Loops above `level` have one iteration, so element numbers count within this loop.
    const Loop& loop = box.loops[level];
    std::int64_t inner = 1;
    for (std::size_t i = level + 1; i < box.loops.size(); ++i) inner *= box.loops[i].extent;
    const auto part = [&](std::int64_t turn, std::int64_t turns) {
        Box piece = box;
        piece.source_first[static_cast<std::size_t>(loop.source_dimension)] +=
            turn * loop.source_step;
        piece.destination_first[static_cast<std::size_t>(loop.destination_dimension)] +=
            turn * loop.destination_step;
        piece.loops[level].extent = turns;
        return piece;
    };
    const std::int64_t head = base::ceil_div(first, inner), tail = last / inner;
    if (head > tail) {  // within one iteration
        cut(part(tail, 1), level + 1, first - tail * inner, last - tail * inner, out);
        return;
    }
    if (head * inner > first)
        cut(part(head - 1, 1), level + 1, first - (head - 1) * inner, inner, out);
    if (head < tail) cut(part(head, tail - head), level, 0, (tail - head) * inner, out);
    if (tail * inner < last) cut(part(tail, 1), level + 1, 0, last - tail * inner, out);
}

}  // namespace

std::vector<Box> make_boxes(const Problem& problem, std::int64_t source_rank,
                            std::int64_t destination_rank, const std::vector<CommonBox>* pieces) {
    Addressing source(problem, Side::source), destination(problem, Side::destination);
    std::vector<IndexSet> from, to;
    if (!source.flat) from = problem.sets(Side::source, source_rank);
    if (!destination.flat) to = problem.sets(Side::destination, destination_rank);
    const Shape& shape = problem.source.shape();
    std::vector<std::vector<Family>> families(shape.size());
    std::vector<Box> boxes;
    if (pieces == nullptr) {
        for (std::size_t d = 0; d < shape.size(); ++d)
            families[d] = layout::intersect(from[d], to[d]);
        add_boxes(families, source, destination, boxes);
        return boxes;
    }
    const bool grid_source = problem.source.form().gridded();
    const bool grid_destination = problem.destination.form().gridded();
    const auto holds_all = [](const IndexSet& set, const layout::Range& range) {
        return set.count_below(range.last) - set.count_below(range.first) ==
               range.last - range.first;
    };
    for (const CommonBox& piece : *pieces) {
        source.base = piece.source_local;
        destination.base = piece.destination_local;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            const layout::Range& range = piece.box[d];
            if ((!grid_source || holds_all(from[d], range)) &&
                (!grid_destination || holds_all(to[d], range))) {
                // Most pieces of lists are so short that only this case is fast enough.
                families[d].resize(1);
                Family& all = families[d][0];
                all.first = range.first;
                all.source = source.flat ? 0 : from[d].count_below(range.first);
                all.destination = destination.flat ? 0 : to[d].count_below(range.first);
                all.repeats.assign(1, {range.last - range.first, 1, 1, 1});
                continue;
            }
            const IndexSet here = layout::interval(piece.box[d], shape[d]);
            families[d] =
                layout::intersect(grid_source ? from[d] : here, grid_destination ? to[d] : here);
            // Local positions count from the first index of a piece, or of a process's box.
            for (Family& family : families[d]) {
                const std::int64_t within = family.first - piece.box[d].first;
                if (!grid_source)
                    family.source = source.flat ? within : from[d].count_below(family.first);
                if (!grid_destination)
                    family.destination =
                        destination.flat ? within : to[d].count_below(family.first);
            }
        }
        add_boxes(families, source, destination, boxes);
    }
    return fold(std::move(boxes));
}

std::vector<Box> slice(const std::vector<Box>& boxes, std::int64_t first, std::int64_t last) {
    std::vector<Box> out;
    for (const Box& box : boxes) {
        const std::int64_t elements = count(box);
        cut(box, 0, std::max<std::int64_t>(first, 0), std::min(last, elements), out);
        first -= elements;
        last -= elements;
        if (last <= 0) break;
    }
    return out;
}

}  // namespace hocket::plan
