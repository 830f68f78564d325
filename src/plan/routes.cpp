// SPDX-License-Identifier: BSD-3-Clause
#include "plan/routes.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "plan/hybrid.hpp"

namespace hocket::plan {

namespace {

// In the code below the larger side (`n` processes) sends and the smaller one (`m`) receives.
SideRank larger(std::int64_t rank) {
    return {Side::source, rank};
}
SideRank smaller(std::int64_t rank) {
    return {Side::destination, rank};
}

std::vector<Hop> through_one(std::int64_t source, std::int64_t destination) {
    const SideRank centre{Side::source, 0};
    return {{0, {Side::source, source}, centre}, {1, centre, {Side::destination, destination}}};
}

/// Stager c of `stages` is process c n / stages. With at most as many stagers as receivers, each
/// collects for a block of receivers, and the first of the block distributes.
std::vector<Hop> staged_few(std::int64_t n, std::int64_t m, std::int64_t stages, std::int64_t a,
                            std::int64_t b) {
    const std::int64_t stage = b * stages / m;
    const SideRank stager = larger(stage * n / stages);
    const SideRank first = smaller(base::ceil_div(stage * m, stages));
    return {{0, larger(a), stager}, {1, stager, first}, {2, first, smaller(b)}};
}

/// With more stagers than receivers: each collects for one receiver from a block of senders.
std::vector<Hop> staged_many(std::int64_t n, std::int64_t m, std::int64_t stages, std::int64_t a,
                             std::int64_t b) {
    const std::int64_t first = base::ceil_div(b * stages, m);
    const std::int64_t count = base::ceil_div((b + 1) * stages, m) - first;
    const SideRank stager = larger((first + a * count / n) * n / stages);
    return {{0, larger(a), stager}, {1, stager, smaller(b)}};
}

/// A butterfly for any number of processes: in phase k a parcel moves 2^k processes on if bit k of
/// its distance is set (Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for
/// all-to-all communications in multiport message-passing systems", IEEE TPDS 8, 1997). Parcels for
/// one receiver meet at the sender that delivers them.
std::vector<Hop> butterfly(std::int64_t n, std::int64_t m, std::int64_t a, std::int64_t b) {
    std::vector<Hop> hops;
    const std::int64_t home = b * n / m, distance = base::floor_mod(home - a, n);
    std::int64_t at = a, phase = 0;
    for (std::int64_t step = 1; step < n; step *= 2, ++phase) {
        if ((distance & step) == 0) continue;
        const std::int64_t next = (at + step) % n;
        hops.push_back({phase, larger(at), larger(next)});
        at = next;
    }
    hops.push_back({phase, larger(home), smaller(b)});
    return hops;
}

/// Hybrid: the first m processes send directly, the others through the members of their group.
std::vector<Hop> grouped(std::int64_t n, std::int64_t m, std::int64_t a, std::int64_t b) {
    if (a < m) return {{0, larger(a), smaller(b)}};
    const HybridGroup group = hybrid_group(n, m, a);
    const SideRank stager = larger(group.first + b * group.size / m);
    return {{1, larger(a), stager}, {2, stager, smaller(b)}};
}

Side turned(Side side) {
    return side == Side::source ? Side::destination : Side::source;
}

}  // namespace

Relay relay_of(Strategy strategy, std::int64_t senders, std::int64_t receivers,
               std::int64_t stages) {
    const bool few = stages <= std::min(senders, receivers);
    switch (strategy) {
        case Strategy::centralized:
            if (stages == 0) return Relay::centre;
            [[fallthrough]];
        case Strategy::staged:
            return few ? Relay::few_stagers : Relay::many_stagers;
        case Strategy::multistage:
            return Relay::butterfly;
        case Strategy::hybrid:
            return Relay::hybrid_groups;
        case Strategy::direct:
            break;
    }
    throw Error("strategy '" + name_of(strategy) + "' passes nothing on; this is a bug of hocket");
}

Routes routes_of(Strategy strategy, std::int64_t senders, std::int64_t receivers,
                 std::int64_t stages) {
    const bool backwards = senders < receivers;
    const std::int64_t n = std::max(senders, receivers), m = std::min(senders, receivers);
    const std::int64_t count = stages == 0 ? m : stages;
    Routes ways;
    switch (relay_of(strategy, senders, receivers, stages)) {
        case Relay::centre:
            return through_one;
        case Relay::few_stagers:
            ways = [=](std::int64_t a, std::int64_t b) { return staged_few(n, m, count, a, b); };
            break;
        case Relay::many_stagers:
            ways = [=](std::int64_t a, std::int64_t b) { return staged_many(n, m, count, a, b); };
            break;
        case Relay::butterfly:
            ways = [=](std::int64_t a, std::int64_t b) { return butterfly(n, m, a, b); };
            break;
        case Relay::hybrid_groups:
            ways = [=](std::int64_t a, std::int64_t b) { return grouped(n, m, a, b); };
            break;
    }
    if (!backwards) return ways;
    return [ways](std::int64_t source, std::int64_t destination) {
        std::vector<Hop> hops = ways(destination, source);
        std::reverse(hops.begin(), hops.end());
        for (Hop& hop : hops) {
            std::swap(hop.from, hop.to);
            hop.from.side = turned(hop.from.side);
            hop.to.side = turned(hop.to.side);
            hop.phase = Hop::latest - hop.phase;  // counting down
        }
        return hops;
    };
}

}  // namespace hocket::plan
