// SPDX-License-Identifier: BSD-3-Clause
#include "plan/pair_counts.hpp"

#include "base/checked.hpp"
#include "layout/family.hpp"

namespace hocket::plan {

namespace {

bool one_run(const layout::IndexSet& set) {
    return !set.repeats() && set.runs().size() == 1;
}

std::int64_t within(const layout::IndexSet& set, const layout::Run& run) {
    return set.count_below(run.first + run.length) - set.count_below(run.first);
}

std::int64_t count(const layout::IndexSet& a, const layout::IndexSet& b) {
    if (a.empty() || b.empty()) return 0;
    if (one_run(a)) return within(b, a.runs()[0]);
    return one_run(b) ? within(a, b.runs()[0]) : layout::count_common(a, b);
}

}  // namespace

PairCounts::PairCounts(const Problem& problem) : dimensions_(problem.where.size()) {
    constexpr std::int64_t most = std::int64_t{1} << 18;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
        Dimension& each = dimensions_[d];
        const layout::Axis &from = problem.axis(Side::source, d),
                           &to = problem.axis(Side::destination, d);
        for (std::int64_t c = 0; c < from.procs; ++c)
            each.source.push_back(layout::held_by(from, c));
        for (std::int64_t c = 0; c < to.procs; ++c)
            each.destination.push_back(layout::held_by(to, c));
        if (const std::int64_t pairs = base::product_up_to(from.procs, to.procs, most);
            pairs < most)
            each.counts.assign(static_cast<std::size_t>(pairs), -1);
    }
    for (const Side side : {Side::source, Side::destination}) {
        const layout::Form& form = problem.form(side);
        auto& coordinates = side == Side::source ? source_ : destination_;
        for (std::int64_t rank = 0; rank < form.size; ++rank) {
            const auto at = form.place(rank);
            for (std::size_t d = 0; d < dimensions_.size(); ++d)
                coordinates.push_back(at ? form.coordinate(problem.dimension(side, d), *at) : -1);
            if (dimensions_.empty()) coordinates.push_back(at ? 0 : -1);
        }
    }
}

std::int64_t PairCounts::of(std::int64_t source, std::int64_t destination) {
    const std::size_t many = dimensions_.empty() ? 1 : dimensions_.size();
    const std::int64_t* const from = &source_[static_cast<std::size_t>(source) * many];
    const std::int64_t* const to = &destination_[static_cast<std::size_t>(destination) * many];
    if (from[0] < 0 || to[0] < 0) return 0;
    std::int64_t product = 1;
    for (std::size_t d = 0; d < dimensions_.size() && product > 0; ++d) {
        Dimension& each = dimensions_[d];
        const auto a = static_cast<std::size_t>(from[d]), b = static_cast<std::size_t>(to[d]);
        std::int64_t unknown = -1;
        std::int64_t& kept =
            each.counts.empty() ? unknown : each.counts[a * each.destination.size() + b];
        if (kept < 0) kept = count(each.source[a], each.destination[b]);
        product *= kept;
    }
    return product;
}

}  // namespace hocket::plan
