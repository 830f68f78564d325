// SPDX-License-Identifier: BSD-3-Clause
#include "plan/parcels.hpp"

#include <algorithm>
#include <utility>

#include "layout/form.hpp"
#include "plan/part.hpp"
#include "plan/share.hpp"

namespace hocket::plan {

namespace {

using layout::Role;

/// The destination processes of a source process, for two grids without copies in the source.
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

}  // namespace

std::optional<std::vector<Parcel>> parcels_up_to(const std::shared_ptr<const Problem>& problem,
                                                 std::int64_t most) {
    std::vector<Parcel> parcels;
    const layout::Form &from = problem->source.form(), &to = problem->destination.form();
    if (from.elements == 0) return parcels;
    parcels.reserve(static_cast<std::size_t>(
        base::product_up_to(from.size, to.size, std::min(most, std::int64_t{1} << 16))));
    std::optional<Rows> rows;
    if (from.gridded() && to.gridded() && from.copies == 1) rows.emplace(*problem);
    for (std::int64_t source = 0; source < from.size; ++source) {
        const std::int64_t same = problem->same(Side::source, source);
        const auto add = [&](const std::vector<Traffic>& peers) {
            for (const Traffic& peer : peers)
                if (peer.process != same) parcels.push_back({source, peer.process, peer.elements});
        };
        if (rows)
            add(rows->of(source));
        else
            add(make_part(problem, Side::source, source)->peers);
        if (static_cast<std::int64_t>(parcels.size()) > most) return std::nullopt;
    }
    return parcels;
}

}  // namespace hocket::plan
