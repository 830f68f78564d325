// SPDX-License-Identifier: BSD-3-Clause
// Assigns processes to the parts of a destination so that the fewest elements move.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "hocket/plan.hpp"
#include "layout/form.hpp"
#include "plan/assignment.hpp"
#include "plan/classes.hpp"
#include "plan/interval_assignment.hpp"
#include "plan/pair_counts.hpp"
#include "plan/part.hpp"
#include "plan/problem.hpp"

namespace hocket {

namespace {

using plan::at;

struct Assigned {
    std::vector<std::int64_t> ranks;  // the process of each part; -1: none that holds any of it
    std::int64_t stays = 0, stays_without = 0;  // elements, with and without the change
};

/// Between two grids, the processes of a class are interchangeable.
Assigned assign_classes(const plan::Problem& problem) {
    plan::ProcessClasses classes(problem);
    const auto &held = classes.source.of, &parts = classes.destination.of;
    plan::WeightTable table;
    table.row_counts = classes.destination.sizes;
    table.column_counts = classes.source.sizes;
    table.rows = std::move(classes.columns);
    // Parts of a class whose own processes are of a class, for pairs of classes with elements.
    using ClassPair = std::pair<std::int64_t, std::int64_t>;
    const auto own_pair = [&](std::size_t part) {
        return ClassPair(parts[part], part < held.size() ? held[part] : -1);
    };
    std::map<ClassPair, std::int64_t> own;
    for (std::size_t part = 0; part < parts.size(); ++part) ++own[own_pair(part)];
    Assigned found;
    std::vector<plan::Flow> preferred;
    for (const auto& [pair, count] : own) {
        if (pair.first < 0 || pair.second < 0) continue;
        const auto& row = table.rows[at(pair.first)];
        const auto entry = std::lower_bound(
            row.begin(), row.end(), pair.second,
            [](const plan::Weight& each, std::int64_t wanted) { return each.column < wanted; });
        if (entry == row.end() || entry->column != pair.second) continue;
        preferred.push_back({pair.first, pair.second, count, entry->weight});
        found.stays_without += count * entry->weight;
    }
    std::map<ClassPair, std::int64_t> flows;
    for (const plan::Flow& flow : plan::assign(std::move(table), std::move(preferred))) {
        flows.emplace(ClassPair(flow.row, flow.column), flow.count);
        found.stays += flow.count * flow.weight;
    }
    // Parts stay with their own process first; the others take processes in order.
    found.ranks.resize(parts.size(), -1);
    std::vector<bool> taken(held.size(), false);
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const auto flow = flows.find(own_pair(part));
        if (flow == flows.end() || flow->second == 0) continue;
        --flow->second;
        found.ranks[part] = static_cast<std::int64_t>(part);
        taken[part] = true;
    }
    std::vector<std::vector<std::int64_t>> members(classes.source.sizes.size());  // from the last
    for (std::size_t rank = held.size(); rank-- > 0;)
        if (held[rank] >= 0 && !taken[rank])
            members[at(held[rank])].push_back(static_cast<std::int64_t>(rank));
    for (std::size_t part = 0; part < parts.size(); ++part) {
        if (parts[part] < 0 || found.ranks[part] >= 0) continue;
        auto flow = flows.lower_bound({parts[part], 0});
        while (flow != flows.end() && flow->second == 0) flow = flows.erase(flow);
        if (flow == flows.end() || flow->first.first != parts[part]) continue;
        auto& processes = members[at(flow->first.second)];
        found.ranks[part] = processes.back();
        processes.pop_back();
        --flow->second;
    }
    return found;
}

/// The parts of a list are found from the list's side in less time.
Assigned assign_lists(const plan::Problem& problem) {
    std::vector<std::vector<plan::Weight>> rows(at(problem.destination.size()));
    const Side side = problem.destination.form().gridded() ? Side::source : Side::destination;
    Assigned found;
    for (std::int64_t rank = 0; rank < problem.form(side).size; ++rank)
        for (const plan::Traffic& each : plan::common_with(problem, side, rank)) {
            if (side == Side::source)
                rows[at(each.process)].push_back({rank, each.elements});
            else
                rows[at(rank)].push_back({each.process, each.elements});
            if (each.process == rank) found.stays_without += each.elements;
        }
    const auto table = rows;
    found.ranks = plan::assign(std::move(rows), problem.source.size());
    for (std::size_t part = 0; part < table.size(); ++part)
        for (const plan::Weight& each : table[part])
            if (each.column == found.ranks[part]) found.stays += each.weight;
    return found;
}

Assigned assign(const plan::Problem& problem) {
    if (!problem.source.form().gridded() || !problem.destination.form().gridded())
        return assign_lists(problem);
    auto ranks = plan::assign_intervals(problem);
    if (!ranks) return assign_classes(problem);
    Assigned found;
    found.ranks = *std::move(ranks);
    plan::PairCounts counts(problem);
    for (std::int64_t part = 0; part < problem.destination.size(); ++part) {
        const std::int64_t rank = found.ranks[at(part)];
        if (rank >= 0) found.stays += counts.of(rank, part);
        if (part < problem.source.size()) found.stays_without += counts.of(part, part);
    }
    return found;
}

}  // namespace

plan::Relabeling relabel(const Layout& source, const Layout& destination,
                         std::vector<std::int64_t> axes) {
    plan::Options options;
    options.axes = std::move(axes);
    options.strategy = "direct";
    const plan::Problem problem(source, destination, std::move(options));
    Assigned found = assign(problem);
    plan::Relabeling result;
    result.ranks = std::move(found.ranks);
    if (found.stays == found.stays_without) {  // no gain
        std::iota(result.ranks.begin(), result.ranks.end(), 0);
    } else {  // parts without held elements keep their own process if possible
        std::vector<bool> taken(at(std::max(source.size(), destination.size())), false);
        for (const std::int64_t rank : result.ranks)
            if (rank >= 0) taken[at(rank)] = true;
        for (std::size_t part = 0; part < result.ranks.size(); ++part) {
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
    result.moved_without = problem.wanted() - found.stays_without;
    result.moved = problem.wanted() - found.stays;
    return result;
}

}  // namespace hocket
