// SPDX-License-Identifier: BSD-3-Clause
#include "plan/common_boxes.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "plan/walk.hpp"

namespace hocket::plan {

using layout::add_outside;
using layout::common_box;
using layout::IndexSet;
using layout::Range;
using layout::Segment;
using layout::volume;

namespace {

using Ranges = std::vector<Range>;

/// Row-major number of a box's first element.
std::int64_t first_place(const Ranges& box, std::span<const std::int64_t> shape) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + box[d].first;
    return place;
}

/// Row-major number of its last element.
std::int64_t last_place(const Ranges& box, std::span<const std::int64_t> shape) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + box[d].last - 1;
    return place;
}

/// The index sets of one box, as if a process held only that box.
std::vector<IndexSet> sets_of(const Ranges& box, const Shape& shape) {
    std::vector<IndexSet> sets;
    for (std::size_t d = 0; d < box.size(); ++d)
        sets.emplace_back(shape[d], shape[d],
                          std::vector<layout::Run>{{box[d].first, box[d].last - box[d].first}});
    return sets;
}

/// Finds groups. Ranges are in the source's dimensions, unless a comment says otherwise.
class Grouping {
  public:
    using Groups = std::map<std::int64_t, PeerBoxes>;

    Grouping(const Problem& problem, Side side, Holders holders)
        : problem_(problem), own_(side), peer_(other(side)), holders_(holders) {}

    Groups run(std::int64_t rank) {
        rank_ = rank;
        if (problem_.form(own_).local_elements(rank) == 0) return {};
        if (problem_.form(own_).gridded())
            meet_grid();
        else
            for_parts(own_, rank, sending(own_),
                      [&](const Ranges& box, std::int64_t local) { meet_box(box, local); });
        return std::move(groups_);
    }

    /// Calls `visit(box, local)` for the boxes of a process of a side that is no grid; with `sent`,
    /// for those that it sends. `local`: the local index of a list's first element.
    template <class Visit>
    void for_parts(Side side, std::int64_t rank, bool sent, Visit visit) const {
        const layout::Form& form = problem_.form(side);
        if (form.boxes) {
            const layout::BoxIndex& boxes = sent ? form.boxes->sent() : form.boxes->held();
            const Range numbers = boxes.of(rank);
            for (std::int64_t k = numbers.first; k < numbers.last; ++k)
                visit(to_source(boxes.box(k), side), std::int64_t{0});
            return;
        }
        for (const Segment& segment :
             sent ? form.segments->sent().of(rank) : form.segments->of(rank))
            for_boxes(side, segment, visit);
    }

    /// The number of elements of a box that the destination process and the source hold.
    std::int64_t count_in(const Ranges& box, std::int64_t destination) const {
        const layout::Form& to = problem_.destination.form();
        if (!to.gridded()) return volume(box);
        return count_of(problem_.sets(Side::destination, destination), box);
    }

    /// A part of a piece.
    CommonBox cut(const CommonBox& whole, Ranges box) const {
        CommonBox piece = whole;
        for (const Side side : {Side::source, Side::destination}) {
            const layout::Form& form = problem_.form(side);
            if (!form.indexed()) continue;
            const std::int64_t first = first_place(to_own(whole.box, side), form.shape);
            const std::int64_t shift = first_place(to_own(box, side), form.shape) - first;
            (side == Side::source ? piece.source_local : piece.destination_local) += shift;
        }
        piece.place = first_place(box, problem_.source.shape());
        piece.box = std::move(box);
        return piece;
    }

  private:
    bool sending(Side side) const { return side == Side::source && holders_ == Holders::senders; }

    /// Converts ranges from the source's dimensions to a side's own, and back.
    Ranges to_own(std::span<const Range> box, Side side) const {
        Ranges result(box.size());
        for (std::size_t d = 0; d < box.size(); ++d) result[problem_.dimension(side, d)] = box[d];
        return result;
    }
    Ranges to_source(std::span<const Range> box, Side side) const {
        Ranges result(box.size());
        for (std::size_t d = 0; d < box.size(); ++d) result[d] = box[problem_.dimension(side, d)];
        return result;
    }

    template <class Visit>
    void for_boxes(Side side, const Segment& segment, Visit& visit) const {
        if (problem_.form(side).shape.size() == 1) {
            visit(Ranges{{segment.first, segment.last()}}, segment.local);
            return;
        }
        for (const Ranges& box :
             layout::boxes_of_interval(problem_.form(side).shape, segment.first, segment.last()))
            visit(to_source(box, side), local_of(box, side, segment));
    }

    /// Local index of the first element of a box (the side's dimensions) in a segment.
    std::int64_t local_of(const Ranges& box, Side side, const Segment& segment) const {
        return segment.local + first_place(box, problem_.form(side).shape) - segment.first;
    }

    static std::int64_t count_of(const std::vector<IndexSet>& sets, const Ranges& box) {
        std::int64_t count = 1;
        for (std::size_t d = 0; d < sets.size() && count > 0; ++d)
            count *= sets[d].count_below(box[d].last) - sets[d].count_below(box[d].first);
        return count;
    }

    /// Adds the elements of `box` that this process and the peer hold: a part of the own box, which
    /// begins at own_local, and of the peer's, which begins at peer_local (for lists).
    void add(std::int64_t peer, std::int64_t count, Ranges box, std::int64_t own_local,
             std::int64_t peer_local) {
        PeerBoxes& group = groups_[peer];
        group.peer = peer;
        group.count += count;
        const std::int64_t place = first_place(box, problem_.source.shape());
        CommonBox piece{std::move(box), place, own_local, peer_local};
        if (own_ == Side::destination) std::swap(piece.source_local, piece.destination_local);
        group.pieces.push_back(std::move(piece));
    }

    /// The offset of a part within `box`, if the side's local array is flat.
    std::int64_t shift(const Ranges& box, const Ranges& part, Side side) const {
        const layout::Form& form = problem_.form(side);
        if (!form.indexed()) return 0;
        return first_place(to_own(part, side), form.shape) -
               first_place(to_own(box, side), form.shape);
    }

    /// Calls `visit(process, box, local)` for the boxes that intersect `box`, of a peer side that
    /// is no grid.
    template <class Visit>
    void for_theirs(const Ranges& box, Visit visit) const {
        const layout::Form& theirs = problem_.form(peer_);
        const Ranges there = to_own(box, peer_);
        const bool sent = sending(peer_);
        if (theirs.boxes) {
            const layout::BoxIndex& boxes = sent ? theirs.boxes->sent() : theirs.boxes->held();
            boxes.for_intersecting(there, [&](std::int64_t k) {
                visit(boxes.process(k), to_source(boxes.box(k), peer_), std::int64_t{0});
                return true;
            });
            return;
        }
        const std::int64_t first = first_place(there, theirs.shape);
        const std::int64_t last = last_place(there, theirs.shape) + 1;
        const auto each = [&](const Segment& segment) {
            const auto part = [&](const Ranges& their_box, std::int64_t local) {
                visit(segment.process, their_box, local);
            };
            for_boxes(peer_, segment, part);
            return true;
        };
        if (sent) {
            for (const Segment& segment : theirs.segments->sent().within(first, last))
                each(segment);
        } else {
            theirs.segments->for_intersecting(first, last, each);
        }
    }

    /// The process of a grid without copies that holds all of a box, within one block of each
    /// dimension; -1: there may be several. Scattered elements then need no walk.
    static std::int64_t holder_of(const Ranges& box, const layout::Form& grid) {
        if (grid.copies != 1) return -1;
        std::int64_t position = 0;
        for (std::size_t g = 0; g < grid.grid.size(); ++g) {
            const layout::Role& role = grid.grid[g];
            std::int64_t coordinate = role.coordinate;
            if (role.kind == layout::Role::Kind::copies) coordinate = role.holders.element(0);
            if (role.kind == layout::Role::Kind::dimension) {
                const layout::Axis& axis = grid.axes[static_cast<std::size_t>(role.dimension)];
                const Range& range = box[static_cast<std::size_t>(role.dimension)];
                const auto block = [&](std::int64_t index) {
                    const std::int64_t at = axis.position(index);
                    return axis.partition ? axis.partition->piece_at(at) : at / axis.block;
                };
                if (range.last - range.first > 1 && block(range.first) != block(range.last - 1))
                    return -1;
                coordinate = axis.owner(range.first);
            }
            position = position * grid.base.procs[g] + coordinate;
        }
        return grid.process_at(position);
    }

    void meet_box(const Ranges& box, std::int64_t local) {
        const layout::Form& theirs = problem_.form(peer_);
        if (theirs.gridded()) {
            if (const auto holder = holder_of(to_own(box, peer_), theirs); holder >= 0) {
                add(holder, volume(box), box, local, 0);
                return;
            }
            Walk(problem_, peer_, sets_of(box, problem_.source.shape()),
                 holders_ == Holders::first_copies)
                .run([&](std::int64_t position, std::int64_t count) {
                    add(theirs.process_at(position), count, box, local, 0);
                });
            return;
        }
        for_theirs(box, [&](std::int64_t process, const Ranges& other, std::int64_t there) {
            Ranges common = common_box(box, other);
            const std::int64_t count = volume(common);
            if (count == 0) return;
            const std::int64_t here = local + shift(box, common, own_);
            there += shift(other, common, peer_);
            add(process, count, std::move(common), here, there);
        });
    }

    void meet_grid() {
        const std::vector<IndexSet> sets = problem_.sets(own_, rank_);
        Ranges around;
        for (const IndexSet& set : sets)
            around.push_back({set.element(0), set.element(set.count() - 1) + 1});
        for_theirs(around, [&](std::int64_t process, const Ranges& box, std::int64_t local) {
            const std::int64_t count = count_of(sets, box);
            if (count > 0) add(process, count, box, 0, local);
        });
    }

    const Problem& problem_;
    Side own_, peer_;
    Holders holders_;
    std::int64_t rank_ = 0;
    Groups groups_;
};

/// If a source other than a grid has copies, a process that holds an element takes it from itself
/// only.
void serve_themselves(const Problem& problem, Side side, std::int64_t rank,
                      Grouping::Groups& groups) {
    if (problem.disjoint()) return;
    const std::int64_t same = problem.same(side, rank);
    if (same >= 0) {
        groups.erase(same);
        Grouping::Groups held = Grouping(problem, side, Holders::all).run(rank);
        if (const auto found = held.find(same); found != held.end())
            groups.emplace(same, std::move(found->second));
    }
    const Grouping grouping(problem, side, Holders::all);
    for (auto group = groups.begin(); group != groups.end();) {
        const std::int64_t destination = side == Side::destination ? rank : group->first;
        const std::int64_t source = side == Side::source ? rank : group->first;
        const std::int64_t self = problem.same(Side::destination, destination);
        if (self < 0 || self == source) {
            ++group;
            continue;
        }
        std::vector<CommonBox>& pieces = group->second.pieces;
        grouping.for_parts(Side::source, self, false, [&](const Ranges& hole, std::int64_t) {
            std::vector<CommonBox> left;
            for (CommonBox& piece : pieces) {
                if (volume(common_box(piece.box, hole)) == 0) {
                    left.push_back(std::move(piece));
                    continue;
                }
                std::vector<Ranges> outside;
                add_outside(piece.box, hole, outside);
                for (Ranges& box : outside) left.push_back(grouping.cut(piece, std::move(box)));
            }
            pieces = std::move(left);
        });
        std::erase_if(pieces, [&](const CommonBox& piece) {
            return grouping.count_in(piece.box, destination) == 0;
        });
        group->second.count = 0;
        for (const CommonBox& piece : pieces)
            group->second.count += grouping.count_in(piece.box, destination);
        group = pieces.empty() ? groups.erase(group) : std::next(group);
    }
}

}  // namespace

std::vector<PeerBoxes> peer_boxes_of(const Problem& problem, Side side, std::int64_t rank,
                                     Holders holders) {
    Grouping::Groups groups = Grouping(problem, side, holders).run(rank);
    if (holders == Holders::senders && problem.scattered_copies())
        serve_themselves(problem, side, rank, groups);
    std::vector<PeerBoxes> result;
    const auto before = [](const CommonBox& a, const CommonBox& b) { return a.place < b.place; };
    for (auto& [peer, group] : groups) {
        if (!std::is_sorted(group.pieces.begin(), group.pieces.end(), before))
            std::sort(group.pieces.begin(), group.pieces.end(), before);
        result.push_back(std::move(group));
    }
    return result;
}

}  // namespace hocket::plan
