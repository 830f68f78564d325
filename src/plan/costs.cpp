// SPDX-License-Identifier: BSD-3-Clause
#include "plan/costs.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "plan/totals.hpp"

namespace hocket::plan {

namespace {

/// The slowest process of each stage, its sends and its receives going on side by side.
class Stage {
  public:
    explicit Stage(std::size_t processes) : sends_(processes, 0), receives_(processes, 0) {}

    void add(std::int64_t from, std::int64_t to, double seconds) {
        slowest_ = std::max({slowest_, sends_[static_cast<std::size_t>(from)] += seconds,
                             receives_[static_cast<std::size_t>(to)] += seconds});
        touched_.push_back(from);
        touched_.push_back(to);
    }
    double end() {
        for (const std::int64_t process : touched_)
            sends_[static_cast<std::size_t>(process)] =
                receives_[static_cast<std::size_t>(process)] = 0;
        touched_.clear();
        const double seconds = slowest_;
        slowest_ = 0;
        return seconds;
    }

  private:
    std::vector<double> sends_, receives_;
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

/// By stages: phases, or the rounds of hybrid, whose phases overlap.
double predict_schedule(const Problem& problem, const Schedule& schedule, const Costs& costs,
                        bool by_rounds) {
    std::vector<const Dispatch*> order;
    for (const Dispatch& message : schedule.messages) order.push_back(&message);
    const auto stage_of = [&](const Dispatch& message) {
        return by_rounds ? message.round : message.phase;
    };
    std::stable_sort(order.begin(), order.end(), [&](const Dispatch* a, const Dispatch* b) {
        return stage_of(*a) < stage_of(*b);
    });
    Stage stage(static_cast<std::size_t>(problem.source.size() + problem.destination.size()));
    double seconds = 0, relay = 0, longest_relay = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        const Dispatch& message = *order[k];
        if (k > 0 && stage_of(message) != stage_of(*order[k - 1])) {
            seconds += stage.end();
            if (!by_rounds) seconds += relay;
            relay = 0;
        }
        stage.add(process_number(problem, message.from), process_number(problem, message.to),
                  costs.message(message.from, message.to, message.elements,
                                carries_relayed(schedule, message)));
        relay = std::max(relay, costs.relay(message.from, message.to));
        longest_relay = std::max(longest_relay, relay);
    }
    seconds += stage.end();
    if (by_rounds && schedule.phases > 1) seconds += longest_relay;
    return seconds;
}

/// As if each pair of processes exchanged as much: the paper's sums, section 2.2.
double predict_even(const Problem& problem, Strategy strategy, const Costs& costs) {
    const auto senders = static_cast<double>(problem.source.size());
    const auto receivers = static_cast<double>(problem.destination.size());
    const double n = std::max(senders, receivers), m = std::min(senders, receivers);
    const double all = costs.bytes(problem.wanted());
    const Stop source{Side::source, 0}, next{Side::source, problem.source.size() - 1};
    const Stop destination{Side::destination, 0};
    const auto near = [&](double messages, double bytes) {
        const double one = costs.message(source, next, 0, true);
        return messages * one + bytes * (costs.model().byte + 2 * costs.model().copy);
    };
    const auto cross = [&](double messages, double bytes) {
        const double none = costs.message(source, destination, 0, false);
        const double item = costs.message(source, destination, 1, false) - none;
        return messages * none + bytes / costs.bytes(1) * item;
    };
    const double relay = costs.relay(source, next);
    const double steps = std::ceil(std::log2(std::max(n, 2.0)));
    switch (strategy) {
        case Strategy::centralized:
            return near(senders - 1, all) + relay + cross(receivers, all);
        case Strategy::staged:
            return near(n - 1, all / m) + relay + cross(1, all / m);
        case Strategy::multistage:
            return steps * (near(1, all / n / 2) + relay) + cross(1, all / m);
        case Strategy::hybrid:
            return cross(m + std::max(n / m - 1, 0.0), all / m) + (n > m ? relay : 0);
        case Strategy::direct:
            break;
    }
    return cross(n, all / m);
}

}  // namespace

Costs::Costs(const Problem& problem, const Model& model) : problem_(problem), model_(model) {
    sides_apart_ = problem.options.source_nodes.empty() && problem.reverse.empty();
    const auto or_near = [](double& far, double near) {
        if (far <= 0) far = near;
    };
    or_near(model_.far_message, model_.message);
    or_near(model_.far_byte, model_.byte);
    or_near(model_.far_relay, model_.relay);
}

bool Costs::far(const Stop& from, const Stop& to) const {
    if (sides_apart_) return from.side != to.side;
    const auto node = [&](const Stop& stop) {
        const auto& nodes = stop.side == Side::source ? problem_.options.source_nodes
                                                      : problem_.options.destination_nodes;
        return nodes.empty() ? 0 : nodes[static_cast<std::size_t>(stop.rank)];
    };
    return node(from) != node(to);
}

double Costs::message(const Stop& from, const Stop& to, std::int64_t elements, bool relayed) const {
    const bool between = far(from, to);
    const double seconds = (between ? model_.far_message : model_.message) +
                           bytes(elements) * (between ? model_.far_byte : model_.byte);
    return relayed ? seconds + 2 * bytes(elements) * model_.copy : seconds;
}

double Costs::relay(const Stop& from, const Stop& to) const {
    return far(from, to) ? model_.far_relay : model_.relay;
}

double predict(const std::shared_ptr<const Problem>& problem, Strategy strategy,
               const Model& model) {
    const Costs costs(*problem, model);
    if (strategy == Strategy::direct)
        return predict_direct(problem, [&](std::int64_t s, std::int64_t d, std::int64_t elements) {
            return costs.message({Side::source, s}, {Side::destination, d}, elements, false);
        });
    if (base::product_up_to(problem->source.size(), problem->destination.size(), most_pairs + 1) >
        most_pairs)
        return predict_even(*problem, strategy, costs);
    const std::int64_t stages =
        strategy_of(problem->options.strategy) == strategy ? problem->options.stages : 0;
    const Schedule schedule = make_schedule(problem, strategy, stages, false);
    return predict_schedule(*problem, schedule, costs, strategy == Strategy::hybrid);
}

Strategy choose(const std::shared_ptr<const Problem>& problem, const Model& model) {
    const std::int64_t from = problem->source.size(), to = problem->destination.size();
    if (from * to == 1 || base::product_up_to(from, to, most_pairs + 1) > most_pairs)
        return Strategy::direct;
    Strategy best = Strategy::direct;
    double least = predict(problem, best, model);
    for (const Strategy strategy : strategies) {
        const double seconds = predict(problem, strategy, model);
        if (seconds >= least) continue;
        best = strategy;
        least = seconds;
    }
    return best;
}

}  // namespace hocket::plan
