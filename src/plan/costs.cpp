// SPDX-License-Identifier: BSD-3-Clause
#include "plan/costs.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "base/checked.hpp"
#include "plan/totals.hpp"

namespace hocket::plan {

namespace {

/// What a port has to do: a process, or the link of a node. Messages cost a process time whichever
/// way they go; bytes go both ways side by side.
struct Load {
    double messages = 0, out = 0, in = 0;
    double seconds() const { return messages + std::max(out, in); }
};

/// The slowest port of each stage. Links are numbered after the processes.
class Stage {
  public:
    Stage(const Problem& problem, const Costs& costs)
        : problem_(problem),
          costs_(costs),
          processes_(problem.source.size() + problem.destination.size()),
          loads_(static_cast<std::size_t>(processes_ + costs.nodes())) {}

    void add(const Dispatch& message, bool relayed) {
        const Stop &from = message.from, &to = message.to;
        add(process_number(problem_, from), process_number(problem_, to), costs_.start(from, to),
            costs_.carry(from, to, message.elements, relayed));
        const std::int64_t here = costs_.node(from), there = costs_.node(to);
        if (here != there)
            add(processes_ + here, processes_ + there, 0, costs_.link(message.elements));
    }
    double end() {
        for (const std::int64_t port : touched_) loads_[static_cast<std::size_t>(port)] = {};
        touched_.clear();
        const double seconds = slowest_;
        slowest_ = 0;
        return seconds;
    }

  private:
    void add(std::int64_t from, std::int64_t to, double start, double carry) {
        Load &sender = loads_[static_cast<std::size_t>(from)],
             &receiver = loads_[static_cast<std::size_t>(to)];
        sender.messages += start;
        receiver.messages += start;
        sender.out += carry;
        receiver.in += carry;
        slowest_ = std::max({slowest_, sender.seconds(), receiver.seconds()});
        touched_.push_back(from);
        touched_.push_back(to);
    }

    const Problem& problem_;
    const Costs& costs_;
    std::int64_t processes_;
    std::vector<Load> loads_;
    std::vector<std::int64_t> touched_;
    double slowest_ = 0;
};

bool carries_relayed(const Schedule& schedule, const Dispatch& message) {
    return message.from.side == message.to.side ||
           std::any_of(message.parcels.begin(), message.parcels.end(), [&](std::int32_t parcel) {
               const Parcel& each = schedule.parcels[static_cast<std::size_t>(parcel)];
               return each.source != message.from.rank || each.destination != message.to.rank;
           });
}

/// By stages: phases, or the rounds of hybrid, whose phases overlap where it has several.
double predict_schedule(const Problem& problem, const Schedule& schedule, const Costs& costs,
                        Strategy strategy) {
    const bool by_rounds = strategy == Strategy::hybrid && schedule.phases > 1;
    std::vector<const Dispatch*> order;
    for (const Dispatch& message : schedule.messages) order.push_back(&message);
    const auto stage_of = [&](const Dispatch& message) {
        return by_rounds ? message.round : message.phase;
    };
    std::stable_sort(order.begin(), order.end(), [&](const Dispatch* a, const Dispatch* b) {
        return stage_of(*a) < stage_of(*b);
    });
    Stage stage(problem, costs);
    double seconds = 0, relay = 0, longest_relay = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        const Dispatch& message = *order[k];
        if (k > 0 && stage_of(message) != stage_of(*order[k - 1])) {
            seconds += stage.end();
            if (!by_rounds) seconds += relay;
            relay = 0;
        }
        stage.add(message, carries_relayed(schedule, message));
        relay = std::max(relay, costs.relay(message.from, message.to));
        longest_relay = std::max(longest_relay, relay);
    }
    seconds += stage.end();
    if (by_rounds) seconds += longest_relay;
    return seconds;
}

/// One stage, without a look at each message. What was not looked at of a node is taken to be as
/// what was.
double predict_direct(const std::shared_ptr<const Problem>& problem, const Costs& costs) {
    double slowest = 0;
    for (const Side side : {Side::source, Side::destination}) {
        const std::int64_t size = problem->form(side).size;
        const auto nodes = static_cast<std::size_t>(costs.nodes());
        std::vector<double> link(nodes, 0), asked(nodes, 0), there(nodes, 0);
        const auto node = [&](std::int64_t rank) {
            return static_cast<std::size_t>(costs.node({side, rank}));
        };
        // Seconds for the messages and for the bytes of a process.
        const auto load = [&](const Stop& here, std::span<const Traffic> peers) {
            std::pair<double, double> sums{0, 0};
            for (const Traffic& peer : peers) {
                const Stop there{other(here.side), peer.process};
                sums.first += costs.start(here, there);
                sums.second += costs.carry(here, there, peer.elements, false);
            }
            return sums;
        };
        for (std::int64_t rank = 0; rank < size; ++rank) ++there[node(rank)];
        look_at_some(problem, side, [&](std::int64_t rank, std::span<const Traffic> peers) {
            const auto [messages, bytes] = load({side, rank}, peers);
            double back_messages = 0, back_bytes = 0;
            if (const std::int64_t same = problem->same(side, rank); same >= 0)
                std::tie(back_messages, back_bytes) =
                    load({other(side), same}, others_of(problem, other(side), same));
            slowest = std::max(slowest, messages + back_messages + std::max(bytes, back_bytes));
            ++asked[node(rank)];
            for (const Traffic& peer : peers)
                if (costs.node({other(side), peer.process}) != costs.node({side, rank}))
                    link[node(rank)] += costs.link(peer.elements);
        });
        for (std::size_t n = 0; n < nodes; ++n)
            if (asked[n] > 0) slowest = std::max(slowest, link[n] / asked[n] * there[n]);
    }
    return slowest;
}

/// As if each pair of processes exchanged as much: the paper's sums, section 2.2.
double predict_even(const Problem& problem, Strategy strategy, const Costs& costs) {
    const auto senders = static_cast<double>(problem.source.size());
    const auto receivers = static_cast<double>(problem.destination.size());
    const double n = std::max(senders, receivers), m = std::min(senders, receivers);
    const double all = costs.bytes(problem.wanted());
    const Stop source{Side::source, 0}, next{Side::source, problem.source.size() - 1};
    const Stop destination{Side::destination, 0};
    const auto fewest_nodes = static_cast<double>(
        std::min(costs.nodes_of(Side::source), costs.nodes_of(Side::destination)));
    const double link = costs.node(source) == costs.node(destination)
                            ? 0
                            : costs.link(problem.wanted()) / fewest_nodes;
    const auto near = [&](double messages, double bytes) {
        return messages * costs.start(source, next) +
               bytes / costs.bytes(1) * costs.carry(source, next, 1, true);
    };
    const auto cross = [&](double messages, double bytes) {
        // Either side may have fewer nodes, and so fewer links, than the other.
        return std::max(messages * costs.start(source, destination) +
                            bytes / costs.bytes(1) * costs.carry(source, destination, 1, false),
                        link);
    };
    const double relay = costs.relay(source, next);
    const double steps = std::ceil(std::log2(std::max(n, 2.0)));
    switch (strategy) {
        case Strategy::centralized:
            return near(senders - 1, all) + relay + cross(receivers, all);
        case Strategy::staged:
            return near(n - 1 + m - 1, all / m) + relay + cross(1, all / m);
        case Strategy::multistage:
            return steps * (near(2, all / n / 2) + relay) + cross(1, all / m);
        case Strategy::hybrid:
            return cross(m + std::max(n / m - 1, 0.0), all / m) + (n > m ? relay : 0);
        case Strategy::direct:
            break;
    }
    return cross(n, all / m);
}

}  // namespace

Costs::Costs(const Problem& problem, const Model& model) : problem_(problem), model_(model) {
    const auto& sources = problem.options.source_nodes;
    const auto& destinations = problem.options.destination_nodes;
    knows_links_ = model.far_byte > 0;
    sides_apart_ = sources.empty() && problem.reverse.empty();
    names_ = sources;
    names_.insert(names_.end(), destinations.begin(), destinations.end());
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    const auto or_near = [](double& far, double near) {
        if (far <= 0) far = near;
    };
    or_near(model_.far_message, model_.message);
    or_near(model_.far_byte, model_.byte);
    or_near(model_.far_relay, model_.relay);
}

std::int64_t Costs::nodes() const {
    if (sides_apart_) return 2;
    return std::max<std::int64_t>(static_cast<std::int64_t>(names_.size()), 1);
}

std::int64_t Costs::nodes_of(Side side) const {
    const std::int64_t size = problem_.form(side).size;
    std::vector<bool> seen(static_cast<std::size_t>(nodes()), false);
    for (std::int64_t rank = 0; rank < size; ++rank)
        seen[static_cast<std::size_t>(node({side, rank}))] = true;
    return std::count(seen.begin(), seen.end(), true);
}

std::int64_t Costs::node(const Stop& stop) const {
    if (sides_apart_) return stop.side == Side::source ? 0 : 1;
    if (names_.empty()) return 0;
    const auto& nodes = stop.side == Side::source ? problem_.options.source_nodes
                                                  : problem_.options.destination_nodes;
    const std::int64_t name = nodes[static_cast<std::size_t>(stop.rank)];
    return std::lower_bound(names_.begin(), names_.end(), name) - names_.begin();
}

double Costs::relay(const Stop& from, const Stop& to) const {
    return far(from, to) ? model_.far_relay : model_.relay;
}

double predict(const std::shared_ptr<const Problem>& problem, Strategy strategy,
               const Model& model) {
    const Costs costs(*problem, model);
    if (strategy == Strategy::direct) return predict_direct(problem, costs);
    if (base::product_up_to(problem->source.size(), problem->destination.size(), most_pairs + 1) >
        most_pairs)
        return predict_even(*problem, strategy, costs);
    const std::int64_t stages =
        strategy_of(problem->options.strategy) == strategy ? problem->options.stages : 0;
    const Schedule schedule = make_schedule(problem, strategy, stages, false);
    return predict_schedule(*problem, schedule, costs, strategy);
}

Strategy choose(const std::shared_ptr<const Problem>& problem, const Model& model) {
    const std::int64_t from = problem->source.size(), to = problem->destination.size();
    if (from * to == 1 || base::product_up_to(from, to, most_pairs + 1) > most_pairs)
        return Strategy::direct;
    constexpr double rounding = 1e-9;  // the same sums in another order are no gain
    Strategy best = Strategy::direct;
    double least = predict(problem, best, model);
    for (const Strategy strategy : strategies) {
        const double seconds = predict(problem, strategy, model);
        if (seconds >= least * (1 - rounding)) continue;
        best = strategy;
        least = seconds;
    }
    return best;
}

}  // namespace hocket::plan
