// SPDX-License-Identifier: BSD-3-Clause
#include "plan/parcels.hpp"

#include <algorithm>
#include <utility>

#include "layout/form.hpp"
#include "plan/part.hpp"
#include "plan/replica_shares.hpp"
#include "plan/share.hpp"

namespace hocket::plan {

namespace {

using layout::Role;

/// The destination processes of a source process, for two grids. Counts every copy of the source.
class Rows {
  public:
    explicit Rows(const Problem& problem)
        : problem_(problem), from_(problem.source.form()), to_(problem.destination.form()) {
        for (std::size_t d = 0; d < from_.axes.size(); ++d)
            tables_.emplace_back(from_.axes[d], problem.axis(Side::destination, d));
    }

    /// By increasing process. Valid until the next call.
    const std::vector<Traffic>& of(std::int64_t source) {
        row_.clear();
        const auto at = from_.place(source);
        if (!at) return row_;
        row_.push_back({0, 1});
        for (std::size_t d = 0; d < tables_.size(); ++d)
            if (problem_.axis(Side::destination, d).grid < 0)
                row_[0].elements *=
                    layout::held_by(from_.axes[d], from_.coordinate(d, *at)).count();
        for (std::size_t g = 0; g < to_.grid.size(); ++g) {
            const Role& role = to_.grid[g];
            if (role.kind == Role::Kind::dimension) {
                const auto j = static_cast<std::size_t>(role.dimension);
                const auto d = static_cast<std::size_t>(problem_.options.axes[j]);
                extend(tables_[d].of(from_.coordinate(d, *at)), g);
            } else if (role.kind == Role::Kind::fixed) {
                extend({{role.coordinate, 1}}, g);
            } else {
                std::vector<Share> copies;
                for (std::int64_t c = 0; c < role.holders.count(); ++c)
                    copies.push_back({role.holders.element(c), 1});
                extend(copies, g);
            }
        }
        std::erase_if(row_, [](const Traffic& each) { return each.elements == 0; });
        if (to_.order) {
            for (Traffic& each : row_) each.process = to_.process_at(each.process);
            std::sort(row_.begin(), row_.end(),
                      [](const Traffic& a, const Traffic& b) { return a.process < b.process; });
        }
        return row_;
    }

  private:
    /// Adds dimension g of the arrangement to positions of the dimensions before it.
    void extend(const std::vector<Share>& shares, std::size_t g) {
        next_.clear();
        next_.reserve(row_.size() * shares.size());
        for (const Traffic& each : row_)
            for (const Share& share : shares)
                next_.push_back({each.process * to_.base.procs[g] + share.coordinate,
                                 each.elements * share.count});
        std::swap(row_, next_);
    }

    const Problem& problem_;
    const layout::Form &from_, &to_;
    std::vector<ShareTable> tables_;  // for each dimension of the source
    std::vector<Traffic> row_, next_;
};

/// The parcels of a source with copies between two grids whose processes are in row-major order:
/// those of each group of copies at once.
class SharedRows {
  public:
    explicit SharedRows(const Problem& problem)
        : problem_(problem), from_(problem.source.form()), rows_(problem) {}

    /// Calls `add(parcel)` for the group whose first copy this process is.
    template <class Add>
    void of(std::int64_t source, Add&& add) {
        const auto at = from_.place(source);
        if (!at || from_.copy_number(*at) != 0) return;
        const ReplicaShares dealing(problem_, *at);
        std::int64_t place = 0;
        for (const Traffic& peer : rows_.of(source)) {
            if (dealing.serves_itself(peer.process)) continue;
            const std::int64_t end = place + peer.elements;
            const auto [low, high] = dealing.copies_of(place, end);
            for (std::int64_t copy = low; copy < high; ++copy) {
                const std::int64_t part = std::min(dealing.share_begin(copy + 1), end) -
                                          std::max(dealing.share_begin(copy), place);
                if (part > 0)
                    add(Parcel{from_.process_at(from_.position(from_.copy_at(copy, *at))),
                               peer.process, part});
            }
            place = end;
        }
    }

  private:
    const Problem& problem_;
    const layout::Form& from_;
    Rows rows_;
};

/// Sorts parcels by source; those of one source keep their order.
void sort_by_source(std::vector<Parcel>& parcels, std::int64_t sources) {
    std::vector<std::size_t> next(at(sources + 1), 0);
    for (const Parcel& each : parcels) ++next[at(each.source + 1)];
    for (std::size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
    std::vector<Parcel> sorted(parcels.size());
    for (const Parcel& each : parcels) sorted[next[at(each.source)]++] = each;
    parcels = std::move(sorted);
}

}  // namespace

std::optional<std::vector<Parcel>> parcels_up_to(const std::shared_ptr<const Problem>& problem,
                                                 std::int64_t most) {
    std::vector<Parcel> parcels;
    const layout::Form &from = problem->source.form(), &to = problem->destination.form();
    if (from.elements == 0) return parcels;
    parcels.reserve(static_cast<std::size_t>(
        base::product_up_to(from.size, to.size, std::min(most, std::int64_t{1} << 16))));
    const auto too_many = [&] { return static_cast<std::int64_t>(parcels.size()) > most; };
    const auto add = [&](Side side, std::int64_t rank, const std::vector<Traffic>& peers) {
        const std::int64_t same = problem->same(side, rank);
        for (const Traffic& peer : peers) {
            if (peer.process == same) continue;
            if (side == Side::source)
                parcels.push_back({rank, peer.process, peer.elements});
            else
                parcels.push_back({peer.process, rank, peer.elements});
        }
    };
    if (from.gridded() && to.gridded() && from.copies == 1) {
        Rows rows(*problem);
        for (std::int64_t rank = 0; rank < from.size && !too_many(); ++rank)
            add(Side::source, rank, rows.of(rank));
    } else if (from.gridded() && to.gridded() && !to.order) {
        SharedRows rows(*problem);
        for (std::int64_t rank = 0; rank < from.size && !too_many(); ++rank)
            rows.of(rank, [&](const Parcel& each) { parcels.push_back(each); });
        sort_by_source(parcels, from.size);
    } else {  // the parts of a list are found from the list's side in less time
        const bool lists = from.gridded() && from.copies == 1;
        const Side side = lists ? Side::destination : Side::source;
        const std::int64_t size = problem->form(side).size;
        for (std::int64_t rank = 0; rank < size && !too_many(); ++rank)
            add(side, rank, make_part(problem, side, rank)->peers);
        if (lists) sort_by_source(parcels, from.size);
    }
    if (too_many()) return std::nullopt;
    return parcels;
}

}  // namespace hocket::plan
