// SPDX-License-Identifier: BSD-3-Clause
#include "plan/routing.hpp"

#include <algorithm>
#include <tuple>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "plan/colouring.hpp"
#include "plan/direct_rounds.hpp"
#include "plan/hybrid.hpp"
#include "plan/parcels.hpp"
#include "plan/routes.hpp"
#include "plan/totals.hpp"

namespace hocket::plan {

namespace {

const std::array<std::string, 6> names{"direct",     "centralized", "staged",
                                       "multistage", "hybrid",      "auto"};

/// The rounds of one phase's messages: the fewest, or turns if finding the fewest takes too long.
/// Ends before `last`.
std::int64_t rounds_of_phase(std::vector<StrategyMessage>& messages, std::size_t first,
                             std::size_t last, std::int64_t rows, std::int64_t columns) {
    Edges edges(static_cast<std::size_t>(rows));
    for (std::size_t k = first; k < last; ++k)
        edges[static_cast<std::size_t>(messages[k].from.rank)].push_back(
            static_cast<std::int32_t>(messages[k].to.rank));
    const std::int64_t least = most_edges(edges, columns);
    const auto count = static_cast<std::int64_t>(last - first);
    if (base::product_up_to(std::max(count, rows + columns), least, DirectRounds::work) <
        DirectRounds::work) {
        const Edges colours = colour(edges, columns);
        std::vector<std::size_t> next(edges.size(), 0);
        for (std::size_t k = first; k < last; ++k) {
            const auto row = static_cast<std::size_t>(messages[k].from.rank);
            messages[k].round = colours[row][next[row]++];
        }
        return least;
    }
    const std::int64_t processes = std::max(rows, columns);
    std::vector<std::int64_t> turns;
    for (std::size_t k = first; k < last; ++k)
        turns.push_back(base::floor_mod(messages[k].to.rank - messages[k].from.rank, processes));
    std::vector<std::int64_t> used = turns;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (std::size_t k = first; k < last; ++k)
        messages[k].round =
            std::lower_bound(used.begin(), used.end(), turns[k - first]) - used.begin();
    return static_cast<std::int64_t>(used.size());
}

}  // namespace

const std::string& name_of(Strategy strategy) {
    return names[static_cast<std::size_t>(strategy)];
}

std::optional<Strategy> strategy_of(const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end())
        throw LayoutError("there is no strategy '" + name + "'" + text::did_you_mean(name, names) +
                          "; choose one of " + text::quoted_list(names));
    if (name == "auto") return std::nullopt;
    return static_cast<Strategy>(at - names.begin());
}

void check_stages(std::optional<Strategy> strategy, std::int64_t stages, std::int64_t senders,
                  std::int64_t receivers) {
    if (stages == 0) return;
    const std::string given = "stages=" + std::to_string(stages);
    const std::int64_t most = std::max(senders, receivers);
    if (!strategy)
        throw LayoutError(given +
                          " belongs to the strategies 'staged' and 'centralized', but the "
                          "strategy is 'auto'; name one of the two, or leave stages out");
    if (*strategy != Strategy::staged && *strategy != Strategy::centralized)
        throw LayoutError(given +
                          " says through how many processes a side's traffic passes, but '" +
                          name_of(*strategy) +
                          "' has no such number ('staged' and 'centralized' have); leave stages "
                          "out");
    if (stages < 0 || stages > most)
        throw LayoutError(given + " is out of range: from " + std::to_string(senders) + " to " +
                          std::to_string(receivers) + " processes traffic can pass through 1 to " +
                          std::to_string(most));
}

std::vector<Hop> without_loops(const Problem& problem, std::vector<Hop> hops) {
    if (problem.disjoint()) return hops;
    std::vector<Hop> kept;
    for (const Hop& hop : hops) {
        const std::int64_t to = process_number(problem, hop.to);
        const auto been = std::find_if(kept.begin(), kept.end(), [&](const Hop& each) {
            return process_number(problem, each.from) == to;
        });
        if (been != kept.end())
            kept.erase(been, kept.end());
        else if (process_number(problem, hop.from) != to)
            kept.push_back(hop);
    }
    return kept;
}

std::vector<Parcel> all_parcels(const std::shared_ptr<const Problem>& problem) {
    constexpr std::int64_t most = std::int64_t{1} << 24;
    const layout::Form &from = problem->source.form(), &to = problem->destination.form();
    // Between grids, the number of messages is known without them.
    const bool counted = from.gridded() && to.gridded() && from.copies == 1 &&
                         base::product_up_to(from.size, to.size, most + 1) > most;
    if (!counted || count_messages(problem) <= most)
        if (auto parcels = parcels_up_to(problem, most)) return *std::move(parcels);
    throw LayoutError("from " + std::to_string(problem->source.size()) + " to " +
                      std::to_string(problem->destination.size()) + " processes more than " +
                      std::to_string(most) +
                      " pairs exchange elements, too many to pass on; use strategy 'direct'");
}

std::int64_t process_number(const Problem& problem, const SideRank& stop) {
    if (stop.side == Side::source) return stop.rank;
    const std::int64_t same = problem.same(Side::destination, stop.rank);
    return same >= 0 ? same : problem.source.size() + stop.rank;
}

void add_messages(Routing& routing, const Problem& problem, std::vector<ParcelHop> hops) {
    std::erase_if(hops, [&](const ParcelHop& each) {
        return process_number(problem, each.hop.from) == process_number(problem, each.hop.to);
    });
    const auto key = [](const ParcelHop& each) {
        const Hop& hop = each.hop;
        return std::tuple(hop.phase, hop.from.rank, hop.to.rank, hop.from.side, hop.to.side);
    };
    std::stable_sort(hops.begin(), hops.end(),
                     [&](const ParcelHop& a, const ParcelHop& b) { return key(a) < key(b); });
    const ParcelHop* before = nullptr;
    std::int64_t phase = routing.phases - 1;
    for (const ParcelHop& each : hops) {
        if (before == nullptr || before->hop.phase != each.hop.phase) ++phase;  // without gaps
        if (before == nullptr || key(*before) != key(each))
            routing.messages.push_back({0, phase, each.hop.from, each.hop.to, 0, {}});
        before = &each;
        const std::int64_t elements =
            routing.parcels[static_cast<std::size_t>(each.parcel)].elements;
        routing.messages.back().parcels.push_back(each.parcel);
        routing.messages.back().elements += elements;
        routing.moved += elements;
    }
    routing.phases = phase + 1;
}

void assign_rounds(Routing& routing, const Problem& problem) {
    auto& messages = routing.messages;
    routing.rounds = 0;
    for (std::size_t first = 0, last = 0; first < messages.size(); first = last) {
        while (last < messages.size() && messages[last].phase == messages[first].phase) ++last;
        const auto size = [&](Side side) { return problem.form(side).size; };
        const std::int64_t count = rounds_of_phase(
            messages, first, last, size(messages[first].from.side), size(messages[first].to.side));
        for (std::size_t k = first; k < last; ++k) messages[k].round += routing.rounds;
        routing.rounds += count;
    }
}

Routing make_routing(const std::shared_ptr<const Problem>& problem, Strategy strategy,
                     std::int64_t stages, bool rounds) {
    if (strategy == Strategy::hybrid) return make_hybrid(problem, all_parcels(problem));
    Routing routing;
    routing.parcels = all_parcels(problem);
    const Routes ways =
        routes_of(strategy, problem->source.size(), problem->destination.size(), stages);
    std::vector<ParcelHop> hops;
    for (std::size_t k = 0; k < routing.parcels.size(); ++k) {
        const auto& [source, destination, elements] = routing.parcels[k];
        for (const Hop& hop : without_loops(*problem, ways(source, destination)))
            hops.push_back({hop, static_cast<std::int32_t>(k)});
    }
    add_messages(routing, *problem, std::move(hops));
    if (rounds) assign_rounds(routing, *problem);
    return routing;
}

}  // namespace hocket::plan
