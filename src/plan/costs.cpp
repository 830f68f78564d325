// SPDX-License-Identifier: BSD-3-Clause
#include "plan/costs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "base/checked.hpp"
#include "plan/hybrid.hpp"
#include "plan/own_routes.hpp"
#include "plan/parcels.hpp"
#include "plan/phases.hpp"
#include "plan/stage.hpp"
#include "plan/sums.hpp"

namespace hocket::plan {

namespace {

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

double predict_phases(const Problem& problem, const Costs& costs, Strategy strategy,
                      std::int64_t stages, const PhaseMessages& messages) {
    Stage stage(problem, costs, true);
    std::map<std::int64_t, double> relays;  // of each phase
    double seconds = 0;
    std::int64_t phase = -1;
    messages.run(strategy, stages, [&](const PhaseMessage& message) {
        if (message.phase != phase) seconds += stage.end();
        phase = message.phase;
        stage.add(message.from, message.to, message.elements, message.relayed);
        double& relay = relays[phase];
        relay = std::max(relay, costs.relay(message.from, message.to));
    });
    if (!relays.empty()) relays.erase(std::prev(relays.end()));  // nobody waits for the last one
    for (const auto& [each, relay] : relays) seconds += relay;
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
        stage.add(message->from, message->to, message->elements, relayed);
        if (relayed && message->phase == 0)
            relay = std::max(relay, costs.relay(message->from, message->to));
        if (message->from.side == message->to.side) {
            within.add(message->from, message->to, message->elements, relayed);
            collects = collects || message->phase == 0;
        }
        if (costs.node(message->from) != costs.node(message->to))
            links[static_cast<std::size_t>(costs.node(message->to))] +=
                costs.link(static_cast<double>(message->elements));
    }
    const double crossed = collects ? 0 : *std::max_element(links.begin(), links.end());
    return std::max(seconds + stage.end(), crossed + relay + within.end());
}

/// Predictions for one plan. Messages or sums are found once.
class Predictor {
  public:
    Predictor(const std::shared_ptr<const Problem>& problem, const Model& model)
        : problem_(problem), costs_(*problem, model) {
        const layout::Form &from = problem->source.form(), &to = problem->destination.form();
        lists_ = !from.gridded() || !to.gridded();
        many_ = base::product_up_to(from.size, to.size, most_messages + 1) > most_messages;
        if (many_ && !lists_) {
            sums_.emplace(problem, costs_);
            if (sums_->messages() > static_cast<double>(most_messages)) return;
        }
        parcels_ = parcels_up_to(problem, lists_ ? most_of_lists : 2 * most_messages);
        if (!parcels_) {
            if (!sums_) sums_.emplace(problem, costs_);
            return;
        }
        messages_.emplace(*problem, *parcels_);
        sums_.emplace(problem, costs_, *parcels_);
    }

    double seconds(Strategy strategy) const {
        const std::int64_t stages =
            strategy_of(problem_->options.strategy) == strategy ? problem_->options.stages : 0;
        if (!parcels_ || strategy == Strategy::direct || by_formula(strategy))
            return predict_from(*sums_, *problem_, costs_, strategy, stages);
        if (strategy != Strategy::hybrid)
            return predict_phases(*problem_, costs_, strategy, stages, *messages_);
        if (is_direct(strategy)) return seconds(Strategy::direct);
        const Routing routing = make_hybrid(problem_, *parcels_);
        return routing.phases > 1 ? predict_hybrid(*problem_, routing, costs_)
                                  : seconds(Strategy::direct);
    }

    /// Whether the seconds of a strategy may be less: quickly, because hybrid's rounds take long.
    bool may_take_less(Strategy strategy, double seconds) const {
        if (strategy != Strategy::hybrid || !parcels_ ||
            static_cast<std::int64_t>(parcels_->size()) <= most_rounds)
            return true;
        return predict_from(*sums_, *problem_, costs_, strategy, 0) < seconds;
    }

    /// Without its rounds, the model knows hybrid only if each side is on one node.
    bool knows(Strategy strategy) const {
        if (lists_) return parcels_ && strategy != Strategy::hybrid;
        return strategy != Strategy::hybrid || parcels_ || costs_.whole_nodes();
    }

    /// Hybrid has groups only if a side is larger by two processes.
    bool is_direct(Strategy strategy) const {
        const std::int64_t from = problem_->source.size(), to = problem_->destination.size();
        return strategy == Strategy::direct ||
               (strategy == Strategy::hybrid && std::max(from, to) < std::min(from, to) + 2);
    }

  private:
    /// Rounds of hybrid take long to find for many lists.
    bool by_formula(Strategy strategy) const {
        return strategy == Strategy::hybrid && many_ && lists_;
    }

    const std::shared_ptr<const Problem>& problem_;
    Costs costs_;
    bool many_ = false, lists_ = false;
    std::optional<Sums> sums_;
    std::optional<std::vector<Parcel>> parcels_;
    std::optional<PhaseMessages> messages_;
};

}  // namespace

Costs::Costs(const Problem& problem, const Model& model) : problem_(problem), model_(model) {
    const auto& sources = problem.options.source_nodes;
    const auto& destinations = problem.options.destination_nodes;
    knows_links_ = model.far_byte > 0;
    sides_apart_ = sources.empty() && problem.disjoint();
    std::vector<std::int64_t> names = sources;
    names.insert(names.end(), destinations.begin(), destinations.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    nodes_ = sides_apart_ ? 2 : std::max<std::int64_t>(static_cast<std::int64_t>(names.size()), 1);
    const auto number = [&](const std::vector<std::int64_t>& given, std::vector<std::int64_t>& of,
                            std::vector<double>& mates) {
        mates.resize(static_cast<std::size_t>(nodes_), 0);
        for (const std::int64_t name : given) {
            of.push_back(std::lower_bound(names.begin(), names.end(), name) - names.begin());
            ++mates[static_cast<std::size_t>(of.back())];
        }
    };
    number(sources, source_, source_mates_);
    number(destinations, destination_, destination_mates_);
    const auto or_near = [](double& far, double near) {
        if (far <= 0) far = near;
    };
    or_near(model_.far_message, model_.message);
    or_near(model_.far_byte, model_.byte);
    or_near(model_.far_relay, model_.relay);
}

double Costs::mates(const SideRank& stop) const {
    const bool sends = stop.side == Side::source;
    if ((sends ? source_ : destination_).empty())
        return static_cast<double>(problem_.form(stop.side).size);
    return (sends ? source_mates_ : destination_mates_)[static_cast<std::size_t>(node(stop))];
}

bool Costs::whole_nodes() const {
    const auto whole = [this](Side side) {
        return mates({side, 0}) == static_cast<double>(problem_.form(side).size);
    };
    return whole(Side::source) && whole(Side::destination);
}

double Costs::relay(const SideRank& from, const SideRank& to) const {
    return far(from, to) ? model_.far_relay : model_.relay;
}

std::array<double, strategies.size()> predict(const std::shared_ptr<const Problem>& problem,
                                              const Model& model) {
    const Predictor predictor(problem, model);
    std::array<double, strategies.size()> seconds{};
    std::transform(strategies.begin(), strategies.end(), seconds.begin(),
                   [&](Strategy strategy) { return predictor.seconds(strategy); });
    return seconds;
}

Strategy choose(const std::shared_ptr<const Problem>& problem, const Model& model) {
    const std::int64_t from = problem->source.size(), to = problem->destination.size();
    if (from == 1 && to == 1) return Strategy::direct;
    const bool many = base::product_up_to(from, to, most_messages + 1) > most_messages;
    constexpr double rounding = 1e-9;  // a different order of the same sums is no gain
    const Predictor predictor(problem, model);
    Strategy best = Strategy::direct;
    double least = predictor.seconds(best);
    for (const Strategy strategy : strategies) {
        if (predictor.is_direct(strategy)) continue;
        if (many && !predictor.knows(strategy)) continue;
        if (!predictor.may_take_less(strategy, least)) continue;
        const double seconds = predictor.seconds(strategy);
        if (seconds >= least * (1 - rounding)) continue;
        if (many && !has_own_routes(problem, strategy, 0)) continue;
        best = strategy;
        least = seconds;
    }
    return best;
}

}  // namespace hocket::plan
