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

/// The work of a port: of a process, or of the link of a node. A process spends time on messages of
/// both directions; bytes of both directions move concurrently.
struct Load {
    double messages = 0, out = 0, in = 0;
    double sent = 0, received = 0;  // of `messages`, for those to and from other nodes
    double seconds() const { return messages + std::max(out, in); }
};

/// Messages that are on a link together share it and arrive together, late; only then can their
/// receiver handle them. So the receiver waits if senders, who start their messages in `pace`
/// seconds, are ahead of the link, which carries them in `carried`: the whole time if they start at
/// once, not at all if the link keeps up. Simulations gave the values between
/// (docs/guide/strategies.md).
double after_link(double handling, double carried, double pace) {
    return carried <= pace ? 0 : handling + std::sqrt(carried * carried - pace * pace);
}

/// The slowest port of each stage. Link numbers follow process numbers. `together`: all messages
/// are under way at once; in successive rounds a process handles one while the next arrives.
class Stage {
  public:
    Stage(const Problem& problem, const Costs& costs, bool together)
        : problem_(problem),
          costs_(costs),
          together_(together),
          processes_(problem.source.size() + problem.destination.size()),
          loads_(static_cast<std::size_t>(processes_ + costs.nodes())) {}

    void add(const StrategyMessage& message, bool relayed) {
        const SideRank &from = message.from, &to = message.to;
        add(process_number(problem_, from), process_number(problem_, to), costs_.start(from, to),
            costs_.carry(from, to, message.elements, relayed));
        const std::int64_t here = costs_.node(from), there = costs_.node(to);
        if (here == there) return;
        add(processes_ + here, processes_ + there, 0, costs_.link(message.elements));
        if (!together_) return;
        const std::int64_t sender = process_number(problem_, from),
                           receiver = process_number(problem_, to), link = processes_ + there;
        of(receiver).received += costs_.start(from, to);
        of(sender).sent += costs_.start(from, to);
        of(link).sent = std::max(of(link).sent, of(sender).sent);  // the pace of its senders
        arrivals_.emplace_back(receiver, link);
    }
    double end() {
        double seconds = slowest_;
        for (const auto& [receiver, link] : arrivals_)
            seconds =
                std::max(seconds, after_link(of(receiver).received, of(link).in, of(link).sent));
        arrivals_.clear();
        for (const std::int64_t port : touched_) of(port) = {};
        touched_.clear();
        slowest_ = 0;
        return seconds;
    }

  private:
    Load& of(std::int64_t port) { return loads_[static_cast<std::size_t>(port)]; }
    void add(std::int64_t from, std::int64_t to, double start, double carry) {
        Load &sender = of(from), &receiver = of(to);
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
    bool together_;
    std::int64_t processes_;
    std::vector<Load> loads_;
    std::vector<std::int64_t> touched_;
    std::vector<std::pair<std::int64_t, std::int64_t>> arrivals_;  // at a process, by a link
    double slowest_ = 0;
};

bool carries_relayed(const Routing& routing, const StrategyMessage& message) {
    return message.from.side == message.to.side ||
           std::any_of(message.parcels.begin(), message.parcels.end(), [&](std::int32_t parcel) {
               const Parcel& each = routing.parcels[static_cast<std::size_t>(parcel)];
               return each.source != message.from.rank || each.destination != message.to.rank;
           });
}

std::vector<const StrategyMessage*> in_order(const Routing& routing,
                                             std::int64_t StrategyMessage::*stage) {
    std::vector<const StrategyMessage*> order;
    for (const StrategyMessage& message : routing.messages) order.push_back(&message);
    std::stable_sort(order.begin(), order.end(),
                     [stage](const StrategyMessage* a, const StrategyMessage* b) {
                         return a->*stage < b->*stage;
                     });
    return order;
}

double predict_phases(const Problem& problem, const Routing& routing, const Costs& costs) {
    Stage stage(problem, costs, true);
    double seconds = 0, relay = 0;
    std::int64_t phase = 0;
    for (const StrategyMessage* message : in_order(routing, &StrategyMessage::phase)) {
        if (message->phase != phase) {
            seconds += stage.end() + relay;
            relay = 0;
            phase = message->phase;
        }
        stage.add(*message, carries_relayed(routing, *message));
        relay = std::max(relay, costs.relay(message->from, message->to));
    }
    return seconds + stage.end();
}

/// By rounds, because groups collect while others send; relays delay short rounds. Earlier messages
/// have waited for their whole link.
double predict_hybrid(const Problem& problem, const Routing& routing, const Costs& costs) {
    Stage stage(problem, costs, false), within(problem, costs, true);
    std::vector<double> links(static_cast<std::size_t>(costs.nodes()), 0);
    double seconds = 0, relay = 0;
    bool collects = false;
    std::int64_t round = 0;
    for (const StrategyMessage* message : in_order(routing, &StrategyMessage::round)) {
        if (message->round != round) seconds += stage.end();
        round = message->round;
        const bool relayed = carries_relayed(routing, *message);
        stage.add(*message, relayed);
        if (relayed && message->phase == 0)
            relay = std::max(relay, costs.relay(message->from, message->to));
        if (message->from.side == message->to.side) {
            within.add(*message, relayed);
            collects = collects || message->phase == 0;
        }
        if (costs.node(message->from) != costs.node(message->to))
            links[static_cast<std::size_t>(costs.node(message->to))] +=
                costs.link(message->elements);
    }
    const double crossed = collects ? 0 : *std::max_element(links.begin(), links.end());
    return std::max(seconds + stage.end(), crossed + relay + within.end());
}

/// One stage, without a visit to each message. Unvisited processes of a node count like the visited
/// ones.
double predict_direct(const std::shared_ptr<const Problem>& problem, const Costs& costs) {
    double slowest = 0, pace = 0;
    for (const Side side : {Side::source, Side::destination}) {
        const std::int64_t size = problem->form(side).size;
        const auto nodes = static_cast<std::size_t>(costs.nodes());
        std::vector<double> link(nodes, 0), handled(nodes, 0), asked(nodes, 0), there(nodes, 0);
        const auto node = [&](std::int64_t rank) {
            return static_cast<std::size_t>(costs.node({side, rank}));
        };
        // Seconds for the messages and for the bytes of a process.
        const auto load = [&](const SideRank& here, std::span<const Traffic> peers) {
            std::pair<double, double> sums{0, 0};
            for (const Traffic& peer : peers) {
                const SideRank there{other(here.side), peer.process};
                sums.first += costs.start(here, there);
                sums.second += costs.carry(here, there, peer.elements, false);
            }
            return sums;
        };
        for (std::int64_t rank = 0; rank < size; ++rank) ++there[node(rank)];
        sample_processes(problem, side, [&](std::int64_t rank, std::span<const Traffic> peers) {
            const auto [messages, bytes] = load({side, rank}, peers);
            double back_messages = 0, back_bytes = 0;
            if (const std::int64_t same = problem->same(side, rank); same >= 0)
                std::tie(back_messages, back_bytes) =
                    load({other(side), same}, others_of(problem, other(side), same));
            slowest = std::max(slowest, messages + back_messages + std::max(bytes, back_bytes));
            ++asked[node(rank)];
            double far_messages = 0;
            for (const Traffic& peer : peers) {
                const SideRank here{side, rank}, far{other(side), peer.process};
                if (costs.node(far) == costs.node(here)) continue;
                link[node(rank)] += costs.link(peer.elements);
                far_messages += costs.start(far, here);
            }
            handled[node(rank)] = std::max(handled[node(rank)], far_messages);
        });
        if (side == Side::source) pace = *std::max_element(handled.begin(), handled.end());
        for (std::size_t n = 0; n < nodes; ++n) {
            if (asked[n] == 0) continue;
            const double carried = link[n] / asked[n] * there[n];
            slowest = std::max(slowest, carried);
            if (side == Side::destination)  // as of a stage
                slowest = std::max(slowest, after_link(handled[n], carried, pace));
        }
    }
    return slowest;
}

/// As if each pair of processes exchanged as much: the paper's sums, section 2.2.
double predict_even(const Problem& problem, Strategy strategy, const Costs& costs) {
    const auto senders = static_cast<double>(problem.source.size());
    const auto receivers = static_cast<double>(problem.destination.size());
    const double n = std::max(senders, receivers), m = std::min(senders, receivers);
    const double all = costs.bytes(problem.wanted());
    const SideRank source{Side::source, 0}, next{Side::source, problem.source.size() - 1};
    const SideRank destination{Side::destination, 0};
    const auto fewest_nodes = static_cast<double>(
        std::min(costs.nodes_of(Side::source), costs.nodes_of(Side::destination)));
    const double link = costs.node(source) == costs.node(destination)
                            ? 0
                            : costs.link(problem.wanted()) / fewest_nodes;
    const auto near = [&](double messages, double bytes) {
        return messages * costs.start(source, next) +
               bytes / costs.bytes(1) * costs.carry(source, next, 1, true);
    };
    const auto cross = [&](double sent, double received, double bytes) {
        // Either side may have fewer nodes, and therefore fewer links.
        const double start = costs.start(source, destination);
        return std::max({std::max(sent, received) * start +
                             bytes / costs.bytes(1) * costs.carry(source, destination, 1, false),
                         link, after_link(received * start, link, sent * start)});
    };
    const double relay = costs.relay(source, next);
    const double steps = std::ceil(std::log2(std::max(n, 2.0)));
    switch (strategy) {
        case Strategy::centralized:
            return near(senders - 1, all) + relay + cross(receivers, 1, all);
        case Strategy::staged:
            return near(n - 1 + m - 1, all / m) + relay + cross(1, 1, all / m);
        case Strategy::multistage:
            return steps * (near(2, all / n / 2) + relay) + cross(1, 1, all / m);
        case Strategy::hybrid:
            return cross(m, m + std::max(n / m - 1, 0.0), all / m) + (n > m ? relay : 0);
        case Strategy::direct:
            break;
    }
    return cross(receivers, senders, all / m);
}

}  // namespace

Costs::Costs(const Problem& problem, const Model& model) : problem_(problem), model_(model) {
    const auto& sources = problem.options.source_nodes;
    const auto& destinations = problem.options.destination_nodes;
    knows_links_ = model.far_byte > 0;
    sides_apart_ = sources.empty() && problem.disjoint();
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

std::int64_t Costs::node(const SideRank& stop) const {
    if (sides_apart_) return stop.side == Side::source ? 0 : 1;
    if (names_.empty()) return 0;
    const auto& nodes = stop.side == Side::source ? problem_.options.source_nodes
                                                  : problem_.options.destination_nodes;
    const std::int64_t name = nodes[static_cast<std::size_t>(stop.rank)];
    return std::lower_bound(names_.begin(), names_.end(), name) - names_.begin();
}

double Costs::relay(const SideRank& from, const SideRank& to) const {
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
    const Routing routing = make_routing(problem, strategy, stages, false);
    return strategy == Strategy::hybrid && routing.phases > 1
               ? predict_hybrid(*problem, routing, costs)
               : predict_phases(*problem, routing, costs);
}

Strategy choose(const std::shared_ptr<const Problem>& problem, const Model& model) {
    const std::int64_t from = problem->source.size(), to = problem->destination.size();
    if (from * to == 1 || base::product_up_to(from, to, most_pairs + 1) > most_pairs)
        return Strategy::direct;
    constexpr double rounding = 1e-9;  // a different order of the same sums is no gain
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
