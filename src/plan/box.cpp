// SPDX-License-Identifier: BSD-3-Clause
// From segment families of each dimension to boxes in the two processes' local arrays.
#include <utility>

#include "layout/family.hpp"
#include "layout/interval.hpp"
#include "plan/part.hpp"

namespace hocket::plan {

using layout::Family;

namespace {

/// One box for each choice of a family in every dimension.
void add_boxes(const Problem& problem, const std::vector<std::vector<Family>>& families,
               std::vector<Box>& out) {
    const std::size_t n = families.size();
    for (const std::vector<Family>& each : families)
        if (each.empty()) return;
    std::vector<std::size_t> choice(n, 0);
    while (true) {
        Box box;
        box.source_first.resize(n);
        box.destination_first.resize(n);
        for (std::size_t d = 0; d < n; ++d) {
            const Family& family = families[d][choice[d]];
            box.source_first[d] = family.source;
            box.destination_first[problem.where[d]] = family.destination;
            for (const layout::Repeat& repeat : family.repeats)
                if (repeat.count > 1)
                    box.loops.push_back({repeat.count, static_cast<int>(d), repeat.source,
                                         static_cast<int>(problem.where[d]), repeat.destination});
        }
        out.push_back(std::move(box));
        std::size_t d = n;
        while (d > 0 && ++choice[d - 1] == families[d - 1].size()) choice[--d] = 0;
        if (d == 0) return;
    }
}

}  // namespace

std::vector<Box> make_boxes(const Problem& problem, std::int64_t source_rank,
                            std::int64_t destination_rank, std::int64_t first, std::int64_t last) {
    const std::vector<layout::IndexSet> from = problem.sets(Side::source, source_rank);
    const std::vector<layout::IndexSet> to = problem.sets(Side::destination, destination_rank);
    std::vector<std::vector<Family>> families;
    Shape counts;
    std::int64_t all = 1;
    for (std::size_t d = 0; d < from.size(); ++d) {
        families.push_back(layout::intersect(from[d], to[d]));
        std::int64_t count = 0;
        for (const Family& family : families.back()) count += family.count();
        counts.push_back(count);
        all *= count;
    }
    std::vector<Box> boxes;
    if (first == 0 && last == all) {
        add_boxes(problem, families, boxes);
        return boxes;
    }
    for (const std::vector<layout::Range>& box : layout::boxes_of_interval(counts, first, last)) {
        std::vector<std::vector<Family>> part;
        for (std::size_t d = 0; d < box.size(); ++d)
            part.push_back(layout::slice(families[d], box[d].first, box[d].last));
        add_boxes(problem, part, boxes);
    }
    return boxes;
}

}  // namespace hocket::plan
