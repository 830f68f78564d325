// SPDX-License-Identifier: BSD-3-Clause
#include "plan/relay_rounds.hpp"

#include <algorithm>
#include <bit>

#include "plan/hybrid.hpp"

namespace hocket::plan {

RelayRounds::RelayRounds(const Problem& problem, Strategy strategy, std::int64_t stages)
    : backwards(problem.source.size() < problem.destination.size()),
      relay(relay_of(strategy, problem.source.size(), problem.destination.size(), stages)),
      n(std::max(problem.source.size(), problem.destination.size())),
      m(std::min(problem.source.size(), problem.destination.size())),
      count(stages == 0 ? m : stages),
      levels(static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)))) {
    switch (relay) {
        case Relay::centre:
            start({problem.source.size(), problem.destination.size()});
            break;
        case Relay::few_stagers:
            start({n, 1, base::ceil_div(m, count)});
            break;
        case Relay::many_stagers:
            start({n, base::ceil_div(count, m)});
            break;
        case Relay::butterfly:
            start(std::vector<std::int64_t>(at(levels + 1), 1));
            break;
        case Relay::hybrid_groups:
            if (n >= 2 * m) start_hybrid(problem);
    }
}

void RelayRounds::start(const std::vector<std::int64_t>& rounds) {
    for (const std::int64_t each : rounds) {
        starts.push_back(all_rounds);
        all_rounds += each;
    }
}

void RelayRounds::start_hybrid(const Problem& problem) {
    const std::int64_t groups = hybrid_group_count(n, m);
    const std::int64_t longest = base::ceil_div(n - m, groups);
    bool apart = true;
    for (std::int64_t b = 0; b < m; ++b)
        apart = apart && problem.same(backwards ? Side::source : Side::destination, b) < m;
    const std::int64_t collect = apart ? 0 : m;
    starts = {0, collect, std::max(m, collect + longest - 1)};
    all_rounds = starts[2] + groups * base::ceil_div(m, longest);
}

std::int64_t RelayRounds::round(std::int64_t phase, std::int64_t from, std::int64_t to) const {
    switch (relay) {
        case Relay::centre:
            return phase == 0 ? from : to;
        case Relay::few_stagers:
            if (phase == 0) return base::floor_mod(to - from, n);
            return phase == 1 ? 0 : to - from;
        case Relay::many_stagers:
            if (phase == 0) return base::floor_mod(to - from, n);
            return base::ceil_div(from * count, n) - base::ceil_div(to * count, m);
        case Relay::butterfly:
            return 0;
        case Relay::hybrid_groups:
            break;
    }
    if (phase == 0) return base::floor_mod(to - from, m);
    const HybridGroup group = hybrid_group(n, m, from);
    if (phase == 1) return base::floor_mod(to - from, group.size) - 1;
    const std::int64_t first = base::ceil_div((from - group.first) * m, group.size);
    return group.number * base::ceil_div(m, group.size) + to - first;
}

}  // namespace hocket::plan
