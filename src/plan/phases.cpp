// SPDX-License-Identifier: BSD-3-Clause
#include "plan/phases.hpp"

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "plan/routes.hpp"

namespace hocket::plan {

/// Elements on one hop, and whether they include relayed ones.
struct PhaseMessages::Sum {
    std::int64_t elements = 0;
    bool relayed = false;
    void add(std::int64_t count, bool relays) {
        elements += count;
        relayed = relayed || relays;
    }
};

PhaseMessages::PhaseMessages(const Problem& problem, std::span<const Parcel> parcels)
    : problem_(problem),
      backwards_(problem.source.size() < problem.destination.size()),
      n_(std::max(problem.source.size(), problem.destination.size())),
      m_(std::min(problem.source.size(), problem.destination.size())),
      by_larger_(parcels) {
    for (std::int64_t b = 0; b < m_; ++b) smaller_.push_back(process_number(problem, small(b)));
    for (std::int64_t a = 0; a < n_; ++a) larger_.push_back(process_number(problem, large(a)));
    if (!backwards_) return;
    std::vector<std::size_t> next(at(n_ + 1), 0);
    for (const Parcel& parcel : parcels) ++next[at(parcel.destination + 1)];
    for (std::size_t a = 0; a < at(n_); ++a) next[a + 1] += next[a];
    turned_.resize(parcels.size());
    for (const auto& [b, a, elements] : parcels) turned_[next[at(a)]++] = {a, b, elements};
    by_larger_ = turned_;
}

void PhaseMessages::centralized(const Visit& visit) const {
    std::vector<Sum> collected(at(problem_.source.size())),
        distributed(at(problem_.destination.size()));
    for (const auto& [a, b, elements] : by_larger_) {
        const std::int64_t source = backwards_ ? b : a, destination = backwards_ ? a : b;
        collected[at(source)].add(elements, true);
        distributed[at(destination)].add(elements, source != 0);
    }
    const SideRank centre{Side::source, 0};
    const auto keep = [&](std::int64_t phase, const SideRank& from, const SideRank& to,
                          const Sum& sum) {
        if (sum.elements > 0) visit({phase, from, to, sum.elements, sum.relayed});
    };
    for (std::int64_t s = 1; s < problem_.source.size(); ++s)
        keep(0, {Side::source, s}, centre, collected[at(s)]);
    for (std::int64_t d = 0; d < problem_.destination.size(); ++d)
        if (problem_.same(Side::destination, d) != 0)
            keep(1, centre, {Side::destination, d}, distributed[at(d)]);
}

/// Through `count` stagers, no more than the smaller side has processes.
void PhaseMessages::staged_few(std::int64_t count, const Visit& visit) const {
    std::vector<Sum> across(at(count)), last(at(m_));
    Sum first;
    std::int64_t sender = 0, receiver = 0;
    const auto end_first = [&] {
        send(visit, 0, 3, large(sender), large(receiver), first);
        first = {};
    };
    for (const auto& [a, b, elements] : by_larger_) {
        const std::int64_t stage = b * count / m_, stager = stage * n_ / count,
                           head = base::ceil_div(stage * m_, count);
        if (a != sender || stager != receiver) end_first();
        sender = a;
        receiver = stager;
        const auto hops = without_loops(
            {larger_[at(a)], larger_[at(stager)], smaller_[at(head)], smaller_[at(b)]});
        if (hops[0]) first.add(elements, true);
        if (hops[1]) across[at(stage)].add(elements, a != stager || b != head);
        if (hops[2]) last[at(b)].add(elements, true);
    }
    end_first();
    for (std::int64_t c = 0; c < count; ++c)
        send(visit, 1, 3, large(c * n_ / count), small(base::ceil_div(c * m_, count)),
             across[at(c)]);
    for (std::int64_t b = 0; b < m_; ++b)
        send(visit, 2, 3, small(base::ceil_div(b * count / m_ * m_, count)), small(b), last[at(b)]);
}

/// Through `count` stagers, more than the smaller side has processes.
void PhaseMessages::staged_many(std::int64_t count, const Visit& visit) const {
    std::vector<Sum> across(at(count));
    std::vector<std::int64_t> receiver(at(count), 0);
    for (const auto& [a, b, elements] : by_larger_) {
        const std::int64_t first = base::ceil_div(b * count, m_);
        const std::int64_t own = base::ceil_div((b + 1) * count, m_) - first;
        const std::int64_t c = first + a * own / n_, stager = c * n_ / count;
        const auto hops =
            without_loops({larger_[at(a)], larger_[at(stager)], smaller_[at(b)], smaller_[at(b)]});
        if (hops[0]) send(visit, 0, 2, large(a), large(stager), {elements, true});
        if (hops[1]) across[at(c)].add(elements, a != stager);
        receiver[at(c)] = b;
    }
    for (std::int64_t c = 0; c < count; ++c)
        send(visit, 1, 2, large(c * n_ / count), small(receiver[at(c)]), across[at(c)]);
}

void PhaseMessages::multistage(const Visit& visit) const {
    std::int64_t levels = 0;
    while ((std::int64_t{1} << levels) < n_) ++levels;
    std::vector<std::int64_t> moved(at(levels * n_), 0);
    std::vector<Sum> across(at(m_));
    for (const auto& [a, b, elements] : by_larger_) {
        const std::int64_t home = b * n_ / m_, end = smaller_[at(b)];
        std::int64_t here = a;
        auto distance = static_cast<std::uint64_t>(base::floor_mod(home - a, n_));
        // A route that comes to its last process ends there.
        for (; distance != 0 && larger_[at(here)] != end; distance &= distance - 1) {
            const int level = __builtin_ctzll(distance);
            moved[at(level * n_ + here)] += elements;
            here += std::int64_t{1} << level;
            if (here >= n_) here -= n_;
        }
        if (larger_[at(here)] != end) across[at(b)].add(elements, a != home);
    }
    for (std::int64_t level = 0; level < levels; ++level)
        for (std::int64_t a = 0; a < n_; ++a)
            send(visit, level, levels + 1, large(a), large((a + (std::int64_t{1} << level)) % n_),
                 {moved[at(level * n_ + a)], true});
    for (std::int64_t b = 0; b < m_; ++b)
        send(visit, levels, levels + 1, large(b * n_ / m_), small(b), across[at(b)]);
}

/// The hops between four stops that remain if a route that returns to a process skips the loop.
std::array<bool, 3> PhaseMessages::without_loops(std::array<std::int64_t, 4> stops) const {
    if (problem_.disjoint()) return {stops[0] != stops[1], true, stops[2] != stops[3]};
    if (backwards_) std::reverse(stops.begin(), stops.end());
    std::array<bool, 3> kept{};
    for (std::size_t k = 0; k < 3; ++k) {
        std::size_t been = 0;
        while (been < k && !(kept[been] && stops[been] == stops[k + 1])) ++been;
        if (been < k)
            std::fill(kept.begin() + static_cast<std::ptrdiff_t>(been), kept.end(), false);
        else
            kept[k] = stops[k] != stops[k + 1];
    }
    if (backwards_) std::reverse(kept.begin(), kept.end());
    return kept;
}

void PhaseMessages::send(const Visit& visit, std::int64_t phase, std::int64_t phases,
                         const SideRank& from, const SideRank& to, const Sum& sum) const {
    if (sum.elements == 0) return;
    if (backwards_)
        visit({phases - 1 - phase, to, from, sum.elements, sum.relayed});
    else
        visit({phase, from, to, sum.elements, sum.relayed});
}

void PhaseMessages::run(Strategy strategy, std::int64_t stages, const Visit& visit) const {
    const std::int64_t count = stages == 0 ? m_ : stages;
    switch (relay_of(strategy, n_, m_, stages)) {
        case Relay::centre:
            return centralized(visit);
        case Relay::few_stagers:
            return staged_few(count, visit);
        case Relay::many_stagers:
            return staged_many(count, visit);
        case Relay::butterfly:
            return multistage(visit);
        case Relay::hybrid_groups:
            throw Error("hybrid has rounds, not phases; this is a bug of hocket");
    }
}

}  // namespace hocket::plan
