// SPDX-License-Identifier: BSD-3-Clause
// Assigns processes to the parts of a destination so that the fewest elements move.
#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "hocket/plan.hpp"
#include "layout/form.hpp"
#include "plan/assignment.hpp"
#include "plan/pair_counts.hpp"
#include "plan/problem.hpp"
#include "plan/share.hpp"

namespace hocket {

namespace {

/// Whether every process already has as much of its part as any process could have, so that no
/// assignment is better. Between two grids, these are products over the dimensions. False also if
/// tables of the dimensions are too large, or there are none.
bool stays_in_place(const plan::Problem& problem) {
    constexpr std::int64_t most = std::int64_t{1} << 22;
    const layout::Form& parts = problem.destination.form();
    if (!problem.source.form().gridded() || !parts.gridded()) return false;
    std::vector<std::vector<std::int64_t>> best(problem.where.size());
    for (std::size_t d = 0; d < best.size(); ++d) {
        const layout::Axis &own = problem.axis(Side::destination, d),
                           &theirs = problem.axis(Side::source, d);
        if (base::product_up_to(own.procs, theirs.procs, most) == most) return false;
        for (std::int64_t c = 0; c < own.procs; ++c) {
            std::int64_t count = 0;
            for (const plan::Share& share : plan::shares(layout::held_by(own, c), theirs))
                count = std::max(count, share.count);
            best[d].push_back(count);
        }
    }
    plan::PairCounts counts(problem);
    for (std::int64_t part = 0; part < parts.size; ++part) {
        const auto at = parts.place(part);
        if (!at) continue;
        std::int64_t highest = 1;
        for (std::size_t d = 0; d < best.size(); ++d)
            highest *= best[d][static_cast<std::size_t>(
                parts.coordinate(problem.dimension(Side::destination, d), *at))];
        const bool exists = part < problem.source.size();
        if (highest > (exists ? counts.of(part, part) : 0)) return false;
    }
    return true;
}

}  // namespace

plan::Relabeling relabel(const Layout& source, const Layout& destination,
                         std::vector<std::int64_t> axes) {
    plan::Options options;
    options.axes = std::move(axes);
    options.strategy = "direct";
    const plan::Problem problem(source, destination, options);
    const Plan plan(source, destination, std::move(options));
    const std::int64_t parts = destination.size(), processes = std::max(source.size(), parts);
    if (stays_in_place(problem)) {
        plan::Relabeling result;
        result.ranks.resize(static_cast<std::size_t>(parts));
        std::iota(result.ranks.begin(), result.ranks.end(), 0);
        plan::PairCounts counts(problem);
        result.moved = plan.elements_moved();
        for (std::int64_t r = 0; r < std::min(source.size(), parts); ++r)
            result.moved -= counts.of(r, r);
        result.moved_without = result.moved;
        return result;
    }
    std::vector<std::vector<plan::Weight>> held(static_cast<std::size_t>(parts));
    std::int64_t stays = 0, stays_without = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
        for (const plan::Traffic& each : plan.common(Side::destination, part)) {
            held[static_cast<std::size_t>(part)].push_back({each.process, each.elements});
            if (each.process == part) stays_without += each.elements;
        }
    }
    plan::Relabeling result;
    result.ranks = plan::assign(held, source.size());
    std::vector<bool> taken(static_cast<std::size_t>(processes), false);
    for (std::size_t part = 0; part < held.size(); ++part) {
        if (result.ranks[part] < 0) continue;
        taken[static_cast<std::size_t>(result.ranks[part])] = true;
        for (const plan::Weight& each : held[part])
            if (each.column == result.ranks[part]) stays += each.weight;
    }
    if (stays == stays_without) {  // no gain
        std::iota(result.ranks.begin(), result.ranks.end(), 0);
    } else {  // parts without held elements keep their own process if possible
        for (std::size_t part = 0; part < held.size(); ++part) {
            if (result.ranks[part] >= 0 || taken[part]) continue;
            result.ranks[part] = static_cast<std::int64_t>(part);
            taken[part] = true;
        }
        std::size_t next = 0;
        for (std::int64_t& rank : result.ranks) {
            if (rank >= 0) continue;
            while (taken[next]) ++next;
            taken[next] = true;
            rank = static_cast<std::int64_t>(next);
        }
    }
    result.moved_without = plan.elements_moved() - stays_without;
    result.moved = plan.elements_moved() - stays;
    return result;
}

}  // namespace hocket
