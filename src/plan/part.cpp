// SPDX-License-Identifier: BSD-3-Clause
// One process's peers. Dimensions are independent: what two processes have in common is the
// product of what they have in common in each.
#include "plan/part.hpp"

#include <algorithm>

#include "plan/dealing.hpp"
#include "plan/share.hpp"

namespace hocket::plan {

using layout::Form;
using layout::IndexSet;
using layout::Role;

namespace {

/// Walks over the processes of an arrangement that have one of the listed coordinates in each of
/// its dimensions, in increasing order, with the product of the listed counts.
class Walk {
  public:
    Walk(const Form& form, std::vector<std::vector<Share>> lists, std::int64_t factor)
        : form_(form), lists_(std::move(lists)), factor_(factor), at_(lists_.size()) {}

    template <class Visit>
    void run(Visit&& visit) {
        descend(0, 0, factor_, visit);
    }
    std::int64_t length() const {
        std::int64_t length = 1;
        for (const std::vector<Share>& list : lists_)
            length *= static_cast<std::int64_t>(list.size());
        return length;
    }
    const Shape& coordinates() const { return at_; }

  private:
    template <class Visit>
    void descend(std::size_t g, std::int64_t rank, std::int64_t count, Visit& visit) {
        if (g == lists_.size()) {
            if (count > 0) visit(rank, count);
            return;
        }
        for (const Share& share : lists_[g]) {
            at_[g] = share.coordinate;
            descend(g + 1, rank * form_.base.procs[g] + share.coordinate, count * share.count,
                    visit);
        }
    }

    const Form& form_;
    std::vector<std::vector<Share>> lists_;
    std::int64_t factor_;
    Shape at_;
};

/// The processes of `side` that hold something of `sets`. Of copies only the first where
/// `one_copy`.
Walk walk_over(const Problem& problem, Side side, const std::vector<IndexSet>& sets,
               bool one_copy) {
    const Form& form = problem.form(side);
    std::vector<std::vector<Share>> lists(form.grid.size());
    std::int64_t factor = 1;
    for (std::size_t d = 0; d < sets.size(); ++d) {
        const layout::Axis& axis = problem.axis(side, d);
        if (axis.grid < 0)
            factor *= sets[d].count();
        else
            lists[static_cast<std::size_t>(axis.grid)] = shares(sets[d], axis);
    }
    for (std::size_t g = 0; g < lists.size(); ++g) {
        const Role& role = form.grid[g];
        if (role.kind == Role::Kind::fixed) lists[g].push_back({role.coordinate, 1});
        if (role.kind != Role::Kind::copies) continue;
        for (std::int64_t c = 0; c < (one_copy ? 1 : form.base.procs[g]); ++c)
            lists[g].push_back({c, 1});
    }
    return {form, std::move(lists), factor};
}

struct Found {
    Traffic traffic;
    std::int64_t begin;
};

void keep(std::vector<Found> found, Part::Data& data) {
    std::sort(found.begin(), found.end(),
              [](const Found& a, const Found& b) { return a.traffic.process < b.traffic.process; });
    for (const Found& each : found) {
        data.peers.push_back(each.traffic);
        data.begins.push_back(each.begin);
    }
}

/// A source process that is one of several copies: its own stretch of the dealing.
void deal_source(Part::Data& data, const std::vector<IndexSet>& sets) {
    const Form& form = data.problem->source.form();
    const Shape at = form.coordinates(data.rank);
    const Dealing dealing(*data.problem, at);
    const std::int64_t copy = form.copy_number(at);
    const std::int64_t begin = dealing.stretch(copy), end = dealing.stretch(copy + 1);
    const std::int64_t same = data.problem->same(Side::source, data.rank);
    std::vector<Found> found;
    std::int64_t place = 0;
    walk_over(*data.problem, Side::destination, sets, false)
        .run([&](std::int64_t rank, std::int64_t count) {
            if (dealing.serves_itself(rank)) {
                if (rank == same) found.push_back({{rank, count}, 0});
                return;
            }
            const std::int64_t first = std::max(begin, place);
            const std::int64_t last = std::min(end, place + count);
            if (first < last) found.push_back({{rank, last - first}, first - place});
            place += count;
        });
    keep(std::move(found), data);
}

/// A destination process whose elements are held by several copies each.
void deal_destination(Part::Data& data, const std::vector<IndexSet>& sets) {
    const Form& from = data.problem->source.form();
    const Shape here = data.problem->destination.form().coordinates(data.rank);
    const std::int64_t same = data.problem->same(Side::destination, data.rank);
    std::vector<Found> found;
    Walk walk = walk_over(*data.problem, Side::source, sets, true);
    walk.run([&](std::int64_t, std::int64_t count) {
        const Dealing dealing(*data.problem, walk.coordinates());
        if (dealing.serves_itself(data.rank)) {
            found.push_back({{same, count}, 0});
            return;
        }
        const std::int64_t place = dealing.before(here);
        const auto [low, high] = dealing.copies_of(place, place + count);
        for (std::int64_t copy = low; copy < high; ++copy) {
            const std::int64_t first = std::max(dealing.stretch(copy), place);
            const std::int64_t last = std::min(dealing.stretch(copy + 1), place + count);
            if (first >= last) continue;
            Shape at = walk.coordinates();
            std::int64_t rest = copy;
            for (std::size_t g = at.size(); g-- > 0;) {
                if (from.grid[g].kind != Role::Kind::copies) continue;
                at[g] = rest % from.base.procs[g];
                rest /= from.base.procs[g];
            }
            found.push_back({{from.rank(at), last - first}, first - place});
        }
    });
    keep(std::move(found), data);
}

}  // namespace

std::shared_ptr<const Part::Data> make_part(std::shared_ptr<const Problem> problem, Side side,
                                            std::int64_t rank) {
    problem->form(side).check_rank(rank);
    auto data = std::make_shared<Part::Data>();
    data->problem = std::move(problem);
    data->side = side;
    data->rank = rank;
    const Form& form = data->problem->form(side);
    if (!form.takes_part(form.coordinates(rank))) return data;
    const std::vector<IndexSet> sets = data->problem->sets(side, rank);
    for (const IndexSet& set : sets)
        if (set.empty()) return data;
    if (data->problem->source.form().copies > 1) {
        if (side == Side::source)
            deal_source(*data, sets);
        else
            deal_destination(*data, sets);
        return data;
    }
    Walk walk = walk_over(*data->problem, other(side), sets, false);
    data->peers.reserve(static_cast<std::size_t>(walk.length()));
    walk.run([&](std::int64_t peer, std::int64_t count) { data->peers.push_back({peer, count}); });
    return data;
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
    const std::int64_t begin = data_->begins.empty() ? 0 : data_->begins[k];
    const bool sends = data_->side == Side::source;
    return make_boxes(*data_->problem, sends ? data_->rank : peer.process,
                      sends ? peer.process : data_->rank, begin, begin + peer.elements);
}

}  // namespace hocket::plan
