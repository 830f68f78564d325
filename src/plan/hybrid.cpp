// SPDX-License-Identifier: BSD-3-Clause
#include "plan/hybrid.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/checked.hpp"

namespace hocket::plan {

namespace {

/// The rounds in which processes are busy.
class Ports {
  public:
    void take(std::int64_t from, std::int64_t to, std::int64_t round) {
        sends_.insert({from, round});
        receives_.insert({to, round});
    }
    std::int64_t first_free(std::int64_t from, std::int64_t to, std::int64_t not_before) const {
        std::int64_t round = not_before;
        while (sends_.contains({from, round}) || receives_.contains({to, round})) ++round;
        return round;
    }

  private:
    std::set<std::pair<std::int64_t, std::int64_t>> sends_, receives_;  // process, round
};

/// The larger side sends: direct messages cross first, then those of the groups.
class Forwards {
  public:
    Forwards(Routing& routing, const Problem& problem, bool backwards)
        : routing_(routing), problem_(problem), backwards_(backwards) {}

    void run(std::int64_t n, std::int64_t m) {
        std::vector<ParcelHop> direct;
        const auto groups = static_cast<std::size_t>(hybrid_group_count(n, m));
        std::vector<std::vector<ParcelHop>> collect(groups), cross(groups);
        for (std::size_t k = 0; k < routing_.parcels.size(); ++k) {
            const Parcel& parcel = routing_.parcels[k];
            const std::int64_t a = backwards_ ? parcel.destination : parcel.source;
            const std::int64_t b = backwards_ ? parcel.source : parcel.destination;
            const auto number = static_cast<std::int32_t>(k);
            if (a < m) {
                direct.push_back({{0, larger(a), smaller(b)}, number});
                continue;
            }
            const HybridGroup group = hybrid_group(n, m, a);
            const SideRank stager = larger(group.first + b * group.size / m);
            const auto g = static_cast<std::size_t>(group.number);
            collect[g].push_back({{0, larger(a), stager}, number});
            cross[g].push_back({{0, stager, smaller(b)}, number});
        }
        place_direct(std::move(direct));
        for (auto& hops : collect) place(std::move(hops), 0);
        for (auto& hops : cross) place(std::move(hops), 1);
        routing_.phases = 2;
    }

  private:
    SideRank larger(std::int64_t rank) const {
        return {backwards_ ? Side::destination : Side::source, rank};
    }
    SideRank smaller(std::int64_t rank) const {
        return {backwards_ ? Side::source : Side::destination, rank};
    }
    std::int64_t number(const SideRank& stop) const { return process_number(problem_, stop); }

    Routing messages_of(std::vector<ParcelHop> hops) {
        Routing part;
        part.parcels = std::move(routing_.parcels);
        add_messages(part, problem_, std::move(hops));
        routing_.parcels = std::move(part.parcels);
        routing_.moved += part.moved;
        return part;
    }
    void keep(StrategyMessage message, std::int64_t phase, std::int64_t round) {
        const std::int64_t from = number(message.from), to = number(message.to);
        ports_.take(from, to, round);
        ready_[to] = std::max(ready_[to], phase == 0 ? round + 1 : 0);
        message.phase = phase;
        message.round = round;
        routing_.rounds = std::max(routing_.rounds, round + 1);
        routing_.messages.push_back(std::move(message));
    }
    void place_direct(std::vector<ParcelHop> hops) {
        Routing part = messages_of(std::move(hops));
        assign_rounds(part, problem_);
        for (StrategyMessage& message : part.messages) {
            const std::int64_t round = message.round;
            keep(std::move(message), 0, round);
        }
        ready_.clear();  // no process relays these
    }
    /// Each message goes as early as both its processes are free and its sender has all its
    /// parcels.
    void place(std::vector<ParcelHop> hops, std::int64_t phase) {
        Routing part = messages_of(std::move(hops));
        std::int64_t least = 0;
        for (const StrategyMessage& message : part.messages)
            least = std::max({least, message.from.rank, message.to.rank});
        // In turns, so that all members of a group send at once, each to another.
        std::stable_sort(part.messages.begin(), part.messages.end(),
                         [&](const StrategyMessage& x, const StrategyMessage& y) {
                             return turn(x, least + 1) < turn(y, least + 1);
                         });
        for (StrategyMessage& message : part.messages) {
            const std::int64_t from = number(message.from), to = number(message.to);
            const std::int64_t round = ports_.first_free(from, to, phase == 0 ? 0 : ready_[from]);
            keep(std::move(message), phase, round);
        }
    }
    static std::int64_t turn(const StrategyMessage& message, std::int64_t processes) {
        return base::floor_mod(message.to.rank - message.from.rank, processes);
    }

    Routing& routing_;
    const Problem& problem_;
    bool backwards_;
    Ports ports_;
    std::map<std::int64_t, std::int64_t> ready_;  // process -> the first round in which it can
                                                  // relay
};

Routing make_direct(const Problem& problem, std::vector<Parcel> parcels) {
    Routing routing;
    routing.parcels = std::move(parcels);
    std::vector<ParcelHop> hops;
    for (std::size_t k = 0; k < routing.parcels.size(); ++k)
        hops.push_back({{0,
                         {Side::source, routing.parcels[k].source},
                         {Side::destination, routing.parcels[k].destination}},
                        static_cast<std::int32_t>(k)});
    add_messages(routing, problem, std::move(hops));
    assign_rounds(routing, problem);
    return routing;
}

std::int64_t crossing(const Routing& routing) {
    return std::count_if(
        routing.messages.begin(), routing.messages.end(),
        [](const StrategyMessage& message) { return message.from.side != message.to.side; });
}

/// Reverses time, and the direction of every message.
void reverse(Routing& routing) {
    for (StrategyMessage& message : routing.messages) {
        std::swap(message.from, message.to);
        message.round = routing.rounds - 1 - message.round;
        message.phase = routing.phases - 1 - message.phase;
    }
}

}  // namespace

HybridGroup hybrid_group(std::int64_t n, std::int64_t m, std::int64_t rank) {
    const std::int64_t staged = n - m, count = hybrid_group_count(n, m);
    // The last group whose first process is not beyond this one.
    const std::int64_t number = ((rank - m + 1) * count - 1) / staged;
    const std::int64_t first = m + staged * number / count;
    return {number, first, m + staged * (number + 1) / count - first};
}

std::pair<std::int64_t, std::int64_t> count_hybrid(const Problem& problem,
                                                   const std::vector<Parcel>& parcels) {
    const bool backwards = problem.source.size() < problem.destination.size();
    const Side large = backwards ? Side::destination : Side::source;
    const std::int64_t n = problem.form(large).size, m = problem.form(other(large)).size;
    std::set<std::pair<std::int64_t, std::int64_t>> across;  // stagers, and their receivers
    std::int64_t messages = 0, moved = 0;
    for (const Parcel& parcel : parcels) {
        const std::int64_t a = backwards ? parcel.destination : parcel.source;
        const std::int64_t b = backwards ? parcel.source : parcel.destination;
        std::int64_t sender = a;
        if (a >= m) {
            const HybridGroup group = hybrid_group(n, m, a);
            sender = group.first + b * group.size / m;
            if (a != sender) {
                ++messages;
                moved += parcel.elements;
            }
        }
        if (problem.same(large, sender) == b) continue;
        moved += parcel.elements;
        if (a < m || across.emplace(sender, b).second) ++messages;
    }
    return {messages, moved};
}

Routing make_hybrid(const std::shared_ptr<const Problem>& problem, std::vector<Parcel> parcels) {
    const std::int64_t senders = problem->source.size(), receivers = problem->destination.size();
    const std::int64_t n = std::max(senders, receivers), m = std::min(senders, receivers);
    Routing direct = make_direct(*problem, parcels);
    if (n < m + 2 || parcels.empty()) return direct;
    const bool backwards = senders < receivers;
    Routing found;
    found.parcels = std::move(parcels);
    Forwards(found, *problem, backwards).run(n, m);
    if (backwards) reverse(found);
    if (found.rounds > direct.rounds || crossing(found) >= crossing(direct)) return direct;
    return found;
}

}  // namespace hocket::plan
