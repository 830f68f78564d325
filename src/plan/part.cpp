// SPDX-License-Identifier: BSD-3-Clause
// One process's peers. Dimensions are independent: the common elements of two processes are the
// product of their common indices in each dimension.
#include "plan/part.hpp"

#include <algorithm>
#include <string>

#include "plan/box.hpp"
#include "plan/replica_shares.hpp"
#include "plan/walk.hpp"

namespace hocket::plan {

using layout::Form;

namespace {

/// The common elements of this process and a peer; for copies in the source, of the first copy.
struct Found {
    std::int64_t peer;
    std::int64_t position;  // of the peer in its arrangement
    std::int64_t count;
    std::shared_ptr<const std::vector<CommonBox>> pieces;
};

std::vector<Found> find(const Problem& problem, Side side, std::int64_t rank, Holders holders) {
    std::vector<Found> found;
    if (problem.has_common_boxes()) {
        for (PeerBoxes& group : peer_boxes_of(problem, side, rank, holders))
            found.push_back(
                {group.peer, group.peer, group.count,
                 std::make_shared<const std::vector<CommonBox>>(std::move(group.pieces))});
        return found;
    }
    const Form& theirs = problem.form(other(side));
    for_holders(problem, other(side), problem.sets(side, rank), holders == Holders::first_copies,
                [&](std::int64_t position, std::int64_t count) {
                    found.push_back({theirs.process_at(position), position, count, nullptr});
                });
    return found;
}

struct Kept {
    Traffic traffic;
    std::int64_t begin;
    std::shared_ptr<const std::vector<CommonBox>> pieces;
};

void keep(std::vector<Kept> kept, Part::Data& data) {
    std::sort(kept.begin(), kept.end(),
              [](const Kept& a, const Kept& b) { return a.traffic.process < b.traffic.process; });
    for (Kept& each : kept) {
        data.peers.push_back(each.traffic);
        data.begins.push_back(each.begin);
        if (each.pieces) data.pieces.push_back(std::move(each.pieces));
    }
}

/// For a source process that is one of several copies: its own share.
std::vector<Kept> deal_source(const Problem& problem, std::int64_t rank) {
    const Form& form = problem.source.form();
    const Shape at = *form.place(rank);
    const ReplicaShares dealing(problem, at);
    const std::int64_t copy = form.copy_number(at);
    const std::int64_t begin = dealing.share_begin(copy), end = dealing.share_begin(copy + 1);
    const std::int64_t same = problem.same(Side::source, rank);
    std::vector<Kept> kept;
    std::int64_t place = 0;
    for (Found& each : find(problem, Side::source, rank, Holders::all)) {
        if (dealing.serves_itself(each.position)) {
            if (each.peer == same)
                kept.push_back({{each.peer, each.count}, 0, std::move(each.pieces)});
            continue;
        }
        const std::int64_t first = std::max(begin, place);
        const std::int64_t last = std::min(end, place + each.count);
        if (first < last)
            kept.push_back({{each.peer, last - first}, first - place, std::move(each.pieces)});
        place += each.count;
    }
    return kept;
}

/// For a destination process whose elements have several copies each.
std::vector<Kept> deal_destination(const Problem& problem, std::int64_t rank) {
    const Form &from = problem.source.form(), &to = problem.destination.form();
    const std::int64_t position = to.gridded() ? to.position(*to.place(rank)) : rank;
    const std::int64_t same = problem.same(Side::destination, rank);
    std::vector<Kept> kept;
    for (const Found& each : find(problem, Side::destination, rank, Holders::first_copies)) {
        const Shape at = *from.place(each.peer);
        const ReplicaShares dealing(problem, at);
        if (dealing.serves_itself(position)) {
            kept.push_back({{same, each.count}, 0, each.pieces});
            continue;
        }
        const std::int64_t place = dealing.before(position);
        const auto [low, high] = dealing.copies_of(place, place + each.count);
        for (std::int64_t copy = low; copy < high; ++copy) {
            const std::int64_t first = std::max(dealing.share_begin(copy), place);
            const std::int64_t last = std::min(dealing.share_begin(copy + 1), place + each.count);
            if (first >= last) continue;
            const std::int64_t sender = from.process_at(from.position(from.copy_at(copy, at)));
            kept.push_back({{sender, last - first}, first - place, each.pieces});
        }
    }
    return kept;
}

}  // namespace

std::shared_ptr<const Part::Data> make_part(const std::shared_ptr<const Problem>& problem,
                                            Side side, std::int64_t rank) {
    problem->form(side).check_rank(rank);
    auto data = std::make_shared<Part::Data>();
    data->problem = problem;
    data->side = side;
    data->rank = rank;
    if (problem->form(side).local_elements(rank) == 0) return data;
    if (problem->source.form().copies > 1) {
        keep(side == Side::source ? deal_source(*problem, rank) : deal_destination(*problem, rank),
             *data);
        return data;
    }
    if (problem->has_common_boxes()) {
        std::vector<Kept> kept;
        for (Found& each : find(*problem, side, rank, Holders::senders))
            kept.push_back({{each.peer, each.count}, 0, std::move(each.pieces)});
        keep(std::move(kept), *data);
        return data;
    }
    // The common case, constructed in place, because a part may have as many peers as there are
    // processes.
    const Form& theirs = problem->form(other(side));
    const auto add = [&](std::int64_t position, std::int64_t count) {
        data->peers.push_back({theirs.process_at(position), count});
    };
    if (theirs.gridded()) {
        Walk walk(*problem, other(side), problem->sets(side, rank), false);
        data->peers.reserve(static_cast<std::size_t>(walk.length()));
        walk.run(add);
    } else {
        for_holders(*problem, other(side), problem->sets(side, rank), false, add);
    }
    if (theirs.order)
        std::sort(data->peers.begin(), data->peers.end(),
                  [](const Traffic& a, const Traffic& b) { return a.process < b.process; });
    return data;
}

std::vector<Traffic> common_with(const Problem& problem, Side side, std::int64_t rank) {
    problem.form(side).check_rank(rank);
    std::vector<Traffic> result;
    if (problem.form(side).local_elements(rank) == 0) return result;
    for (const Found& each : find(problem, side, rank, Holders::all))
        result.push_back({each.peer, each.count});
    std::sort(result.begin(), result.end(),
              [](const Traffic& a, const Traffic& b) { return a.process < b.process; });
    return result;
}

Part::Part(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

const std::vector<Traffic>& Part::peers() const {
    return data_->peers;
}

std::vector<Box> Part::boxes(std::size_t k) const {
    if (k >= data_->peers.size())
        throw LayoutError("a part with " + std::to_string(data_->peers.size()) +
                          " peers has no peer number " + std::to_string(k));
    const Traffic& peer = data_->peers[k];
    const bool sends = data_->side == Side::source;
    const std::vector<CommonBox>* pieces = data_->pieces.empty() ? nullptr : data_->pieces[k].get();
    std::vector<Box> boxes = make_boxes(*data_->problem, sends ? data_->rank : peer.process,
                                        sends ? peer.process : data_->rank, pieces);
    if (data_->problem->source.form().copies == 1) return boxes;
    return slice(boxes, data_->begins[k], data_->begins[k] + peer.elements);
}

}  // namespace hocket::plan
