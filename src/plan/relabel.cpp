// SPDX-License-Identifier: BSD-3-Clause
// Assigns processes to the parts of a destination so that the fewest elements move.
#include <algorithm>
#include <numeric>
#include <utility>

#include "hocket/plan.hpp"
#include "plan/assignment.hpp"

namespace hocket {

plan::Relabeling relabel(const Layout& source, const Layout& destination,
                         std::vector<std::int64_t> axes) {
    plan::Options options;
    options.axes = std::move(axes);
    options.strategy = "direct";
    const Plan plan(source, destination, std::move(options));
    const std::int64_t parts = destination.size(), processes = std::max(source.size(), parts);
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
