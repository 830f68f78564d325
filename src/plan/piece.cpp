// SPDX-License-Identifier: BSD-3-Clause
#include "plan/piece.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "plan/walk.hpp"

namespace hocket::plan {

using layout::IndexSet;
using layout::Range;
using layout::Segment;

namespace {

using Ranges = std::vector<Range>;

/// Row-major place of a box's first index.
std::int64_t first_place(const Ranges& box, std::span<const std::int64_t> shape) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + box[d].first;
    return place;
}

/// And of its last one.
std::int64_t last_place(const Ranges& box, std::span<const std::int64_t> shape) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + box[d].last - 1;
    return place;
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
        const auto before = [](const Piece& a, const Piece& b) { return a.place < b.place; };
        for (auto& [peer, group] : groups_) {
            if (!std::is_sorted(group.pieces.begin(), group.pieces.end(), before))
                std::sort(group.pieces.begin(), group.pieces.end(), before);
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
        const Shape& shape = problem_.form(side).shape;
        std::int64_t place = 0;
        for (std::size_t j = 0; j < shape.size(); ++j) {
            const auto d =
                side == Side::source ? j : static_cast<std::size_t>(problem_.options.axes[j]);
            place = place * shape[j] + box[d].first;
        }
        return segment.local + place - segment.first;
    }

    void add(std::int64_t peer, std::int64_t count, Ranges box, std::int64_t own_local,
             std::int64_t peer_local) {
        Group& group = groups_[peer];
        group.peer = peer;
        group.count += count;
        const std::int64_t place = first_place(box, problem_.source.shape());
        Piece piece{std::move(box), place, own_local, peer_local};
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
        for (const Segment& other_segment : theirs.segments->within(
                 first_place(there, theirs.shape), last_place(there, theirs.shape) + 1)) {
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
