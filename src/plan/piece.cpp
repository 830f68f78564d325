// SPDX-License-Identifier: BSD-3-Clause
#include "plan/piece.hpp"

#include <algorithm>
#include <map>

#include "plan/walk.hpp"

namespace hocket::plan {

using layout::IndexSet;
using layout::Range;
using layout::Segment;

namespace {

using Ranges = std::vector<Range>;

Shape corner(const Ranges& box) {
    Shape first;
    for (const Range& range : box) first.push_back(range.first);
    return first;
}

/// The sets of one box, as if a process held just that.
std::vector<IndexSet> sets_of(const Ranges& box, const Shape& shape) {
    std::vector<IndexSet> sets;
    for (std::size_t d = 0; d < box.size(); ++d)
        sets.emplace_back(shape[d], shape[d],
                          std::vector<layout::Run>{{box[d].first, box[d].last - box[d].first}});
    return sets;
}

class Grouping {
  public:
    Grouping(const Problem& problem, Side side, bool one_copy)
        : problem_(problem), own_(side), peer_(other(side)), one_copy_(one_copy) {}

    std::vector<Group> run(std::int64_t rank) {
        const layout::Form& mine = problem_.form(own_);
        if (!mine.indexed()) {
            by_their_segments(rank);
        } else {
            std::int64_t local = 0;
            for (const layout::Run& run : mine.segments->set(rank).runs()) {
                my_segment({run.first, run.length, rank, local});
                local += run.length;
            }
        }
        std::vector<Group> result;
        const Shape& shape = problem_.source.shape();
        for (auto& [peer, group] : groups_) {
            std::sort(group.pieces.begin(), group.pieces.end(),
                      [&](const Piece& a, const Piece& b) {
                          return layout::flatten(corner(a.box), shape) <
                                 layout::flatten(corner(b.box), shape);
                      });
            result.push_back(std::move(group));
        }
        return result;
    }

  private:
    /// Ranges in a side's own dimensions, from those in the source's, and back.
    Ranges to_own(const Ranges& box, Side side) const {
        Ranges result(box.size());
        for (std::size_t d = 0; d < box.size(); ++d) result[problem_.dimension(side, d)] = box[d];
        return result;
    }
    Ranges to_source(const Ranges& box, Side side) const {
        Ranges result(box.size());
        for (std::size_t d = 0; d < box.size(); ++d) result[d] = box[problem_.dimension(side, d)];
        return result;
    }

    /// Local place of the first element of a box (source's dimensions) in a segment of `side`.
    std::int64_t local_of(const Ranges& box, Side side, const Segment& segment) const {
        return segment.local +
               layout::flatten(corner(to_own(box, side)), problem_.form(side).shape) -
               segment.first;
    }

    void add(std::int64_t peer, std::int64_t count, Ranges box, std::int64_t own_local,
             std::int64_t peer_local) {
        Group& group = groups_[peer];
        group.peer = peer;
        group.count += count;
        Piece piece{std::move(box), own_local, peer_local};
        if (own_ == Side::destination) std::swap(piece.source_local, piece.destination_local);
        group.pieces.push_back(std::move(piece));
    }

    void my_segment(const Segment& segment) {
        const layout::Form &mine = problem_.form(own_), &theirs = problem_.form(peer_);
        for (const Ranges& own_box :
             layout::boxes_of_interval(mine.shape, segment.first, segment.first + segment.length)) {
            const Ranges box = to_source(own_box, own_);
            const std::int64_t local = local_of(box, own_, segment);
            if (theirs.indexed()) {
                in_their_segments(box, segment);
                continue;
            }
            Walk(problem_, peer_, sets_of(box, problem_.source.shape()), one_copy_)
                .run([&](std::int64_t position, std::int64_t count) {
                    add(theirs.process_at(position), count, box, local, 0);
                });
        }
    }

    void in_their_segments(const Ranges& box, const Segment& segment) {
        const layout::Form& theirs = problem_.form(peer_);
        const Ranges there = to_own(box, peer_);
        Shape last;
        for (const Range& range : there) last.push_back(range.last - 1);
        for (const Segment& other_segment :
             theirs.segments->within(layout::flatten(corner(there), theirs.shape),
                                     layout::flatten(last, theirs.shape) + 1)) {
            for (const Ranges& each :
                 layout::boxes_of_interval(theirs.shape, other_segment.first,
                                           other_segment.first + other_segment.length)) {
                Ranges common = to_source(each, peer_);
                std::int64_t count = 1;
                for (std::size_t d = 0; d < common.size(); ++d) {
                    common[d] = {std::max(common[d].first, box[d].first),
                                 std::min(common[d].last, box[d].last)};
                    count *= std::max<std::int64_t>(0, common[d].last - common[d].first);
                }
                if (count > 0)
                    add(other_segment.process, count, common, local_of(common, own_, segment),
                        local_of(common, peer_, other_segment));
            }
        }
    }

    void by_their_segments(std::int64_t rank) {
        if (problem_.form(own_).local_elements(rank) == 0) return;
        const std::vector<IndexSet> sets = problem_.sets(own_, rank);
        const layout::Form& theirs = problem_.form(peer_);
        Shape first(sets.size()), last(sets.size());
        for (std::size_t d = 0; d < sets.size(); ++d) {
            first[problem_.dimension(peer_, d)] = sets[d].element(0);
            last[problem_.dimension(peer_, d)] = sets[d].element(sets[d].count() - 1);
        }
        for (const Segment& segment : theirs.segments->within(
                 layout::flatten(first, theirs.shape), layout::flatten(last, theirs.shape) + 1)) {
            for (const Ranges& each : layout::boxes_of_interval(theirs.shape, segment.first,
                                                                segment.first + segment.length)) {
                const Ranges box = to_source(each, peer_);
                std::int64_t count = 1;
                for (std::size_t d = 0; d < box.size() && count > 0; ++d)
                    count *= sets[d].count_below(box[d].last) - sets[d].count_below(box[d].first);
                if (count > 0) add(segment.process, count, box, 0, local_of(box, peer_, segment));
            }
        }
    }

    const Problem& problem_;
    Side own_, peer_;
    bool one_copy_;
    std::map<std::int64_t, Group> groups_;
};

}  // namespace

std::vector<Group> groups_of(const Problem& problem, Side side, std::int64_t rank, bool one_copy) {
    return Grouping(problem, side, one_copy).run(rank);
}

}  // namespace hocket::plan
