// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/plan.hpp"

#include <algorithm>
#include <mutex>
#include <tuple>

#include "base/checked.hpp"
#include "plan/costs.hpp"
#include "plan/direct_rounds.hpp"
#include "plan/hybrid.hpp"
#include "plan/own_routes.hpp"
#include "plan/part.hpp"
#include "plan/phases.hpp"
#include "plan/problem.hpp"
#include "plan/routing.hpp"
#include "plan/totals.hpp"

namespace hocket {

namespace {

/// One message of a process, with its parcels.
struct ParcelRoutes {
    plan::Step step;
    std::vector<plan::Parcel> cargo;
};

}  // namespace

/// Totals and the choice of a strategy visit every process, so they are computed at first use.
struct Plan::State {
    std::shared_ptr<const plan::Problem> problem;
    plan::Model model;

    mutable std::once_flag strategy_once, groups_once, turns_once, routing_once, parcels_once,
        messages_once, moved_once;
    mutable std::optional<plan::Strategy> strategy_found;
    mutable std::optional<plan::DirectRounds> turns_found;
    mutable bool groups_found = false;
    mutable plan::Routing routing_found;
    mutable std::vector<plan::Parcel> parcels_found;
    mutable std::int64_t messages_found = 0, moved_found = 0;

    plan::Strategy strategy() const {
        std::call_once(strategy_once, [this] {
            if (!strategy_found) strategy_found = plan::choose(problem, model);
        });
        return *strategy_found;
    }
    /// Beyond the pairs that are listed, hybrid without groups is direct.
    bool direct() const {
        if (strategy() != plan::Strategy::hybrid || !many())
            return strategy() == plan::Strategy::direct;
        std::call_once(groups_once, [this] {
            const std::int64_t from = problem->source.size(), to = problem->destination.size();
            const auto exchanges = needs_all() ? static_cast<std::int64_t>(parcels().size())
                                               : plan::count_messages(problem);
            groups_found = plan::hybrid_groups(std::max(from, to), std::min(from, to),
                                               static_cast<double>(exchanges));
        });
        return !groups_found;
    }
    const plan::Routing& routing() const {  // unless direct
        std::call_once(routing_once, [this] {
            routing_found = plan::make_routing(problem, strategy(), problem->options.stages);
        });
        return routing_found;
    }
    bool many() const {
        const std::int64_t from = problem->source.size(), to = problem->destination.size();
        return base::product_up_to(from, to, plan::most_messages + 1) > plan::most_messages;
    }
    /// Whether the process finds its own messages only, because there may be too many for all.
    bool own() const {
        return many() && plan::has_own_routes(problem, strategy(), problem->options.stages);
    }
    bool needs_all() const { return plan::needs_all_parcels(*problem, strategy()); }
    /// All of them. @throws LayoutError as all_parcels does.
    const std::vector<plan::Parcel>& parcels() const {
        std::call_once(parcels_once, [this] { parcels_found = plan::all_parcels(problem); });
        return parcels_found;
    }
    const plan::DirectRounds& turns() const {
        std::call_once(turns_once, [this] { turns_found.emplace(problem); });
        return *turns_found;
    }
    std::int64_t messages() const {
        if (!direct()) {
            if (own()) return own_totals().first;
            return static_cast<std::int64_t>(routing().messages.size());
        }
        std::call_once(messages_once, [this] { messages_found = plan::count_messages(problem); });
        return messages_found;
    }
    std::int64_t moved() const {
        if (!direct()) return own() ? own_totals().second : routing().moved;
        std::call_once(moved_once, [this] { moved_found = plan::count_moved(*problem); });
        return moved_found;
    }
    std::vector<ParcelRoutes> itinerary(Side side, std::int64_t rank) const {
        problem->form(side).check_rank(rank);
        std::vector<ParcelRoutes> found =
            direct() ? direct_itinerary(side, rank) : relayed_itinerary(side, rank);
        std::stable_sort(found.begin(), found.end(),
                         [](const ParcelRoutes& a, const ParcelRoutes& b) {
                             return a.step.round < b.step.round;
                         });
        return found;
    }

  private:
    /// Messages and moved elements of all processes. @throws LayoutError as all_parcels does.
    std::pair<std::int64_t, std::int64_t> own_totals() const {
        std::call_once(messages_once, [this] {
            // The list may take hundreds of megabytes: it is kept only where all need it.
            std::vector<plan::Parcel> once;
            if (!needs_all()) once = plan::all_parcels(problem);
            const std::vector<plan::Parcel>& all = needs_all() ? parcels() : once;
            if (strategy() == plan::Strategy::hybrid) {
                std::tie(messages_found, moved_found) = plan::count_hybrid(*problem, all);
                return;
            }
            plan::PhaseMessages(*problem, all)
                .run(strategy(), problem->options.stages, [this](const plan::PhaseMessage& each) {
                    ++messages_found;
                    moved_found += each.elements;
                });
        });
        return {messages_found, moved_found};
    }
    std::vector<ParcelRoutes> direct_itinerary(Side side, std::int64_t rank) const {
        const std::int64_t same = problem->same(side, rank);
        const bool sends = side == Side::source;
        std::vector<ParcelRoutes> found;
        const auto part = plan::make_part(problem, side, rank);
        for (const plan::Traffic& peer : part->peers) {
            if (peer.process == same) continue;
            const std::int64_t source = sends ? rank : peer.process;
            const std::int64_t destination = sends ? peer.process : rank;
            found.push_back({{turns().round(source, destination), sends, plan::other(side),
                              peer.process, peer.elements},
                             {{source, destination, peer.elements}}});
        }
        return found;
    }
    std::vector<ParcelRoutes> relayed_itinerary(Side side, std::int64_t rank) const {
        std::vector<ParcelRoutes> found;
        const plan::SideRank here{side, rank};
        if (own()) {
            for (plan::OwnMessage& message :
                 plan::own_routes(problem, strategy(), problem->options.stages, here,
                                  needs_all() ? &parcels() : nullptr)) {
                const bool sends = message.from == here;
                const plan::SideRank& there = sends ? message.to : message.from;
                found.push_back({{message.round, sends, there.side, there.rank, message.elements},
                                 std::move(message.parcels)});
            }
            return found;
        }
        for (const plan::StrategyMessage& message : routing().messages) {
            const bool sends = message.from == here;
            if (!sends && !(message.to == here)) continue;
            const plan::SideRank& there = sends ? message.to : message.from;
            ParcelRoutes& made = found.emplace_back();
            made.step = {message.round, sends, there.side, there.rank, message.elements};
            for (const std::int32_t parcel : message.parcels)
                made.cargo.push_back(routing().parcels[static_cast<std::size_t>(parcel)]);
        }
        return found;
    }
};

Plan::Plan(Layout source, Layout destination, plan::Options options) {
    auto state = std::make_shared<State>();
    state->strategy_found = plan::strategy_of(options.strategy);
    plan::check_stages(state->strategy_found, options.stages, source.size(), destination.size());
    state->model = options.model ? *options.model : plan::Model::kept();
    state->problem = std::make_shared<const plan::Problem>(
        std::move(source), std::move(destination), std::move(options));
    state_ = std::move(state);
}

const Layout& Plan::source() const {
    return state_->problem->source;
}
const Layout& Plan::destination() const {
    return state_->problem->destination;
}
const plan::Options& Plan::options() const {
    return state_->problem->options;
}
const std::string& Plan::strategy() const {
    return plan::name_of(state_->strategy());
}

std::vector<plan::Traffic> Plan::sends(std::int64_t rank) const {
    return plan::make_part(state_->problem, Side::source, rank)->peers;
}

std::vector<plan::Traffic> Plan::recvs(std::int64_t rank) const {
    return plan::make_part(state_->problem, Side::destination, rank)->peers;
}

std::vector<plan::Step> Plan::steps(Side side, std::int64_t rank) const {
    std::vector<plan::Step> steps;
    for (const ParcelRoutes& each : state_->itinerary(side, rank)) steps.push_back(each.step);
    return steps;
}

std::vector<std::vector<plan::Parcel>> Plan::cargo(Side side, std::int64_t rank) const {
    std::vector<std::vector<plan::Parcel>> cargo;
    for (ParcelRoutes& each : state_->itinerary(side, rank)) cargo.push_back(std::move(each.cargo));
    return cargo;
}

std::int64_t Plan::rounds() const {
    if (state_->direct()) return state_->turns().count();
    if (state_->own())
        return plan::own_rounds(*state_->problem, state_->strategy(), options().stages);
    return state_->routing().rounds;
}
std::int64_t Plan::message_count() const {
    return state_->messages();
}
std::int64_t Plan::elements_moved() const {
    return state_->moved();
}

std::vector<plan::Traffic> Plan::common(Side side, std::int64_t rank) const {
    return plan::common_with(*state_->problem, side, rank);
}

plan::Part Plan::part(Side side, std::int64_t rank) const {
    return plan::Part(plan::make_part(state_->problem, side, rank));
}

std::int64_t Plan::same_process(std::int64_t destination_rank) const {
    state_->problem->destination.form().check_rank(destination_rank);
    return state_->problem->same(Side::destination, destination_rank);
}

std::vector<plan::Prediction> Plan::predict(const plan::Model& model) const {
    const auto seconds = plan::predict(state_->problem, model);
    std::vector<plan::Prediction> found;
    for (const plan::Strategy strategy : plan::strategies)
        found.push_back({plan::name_of(strategy), seconds[static_cast<std::size_t>(strategy)]});
    return found;
}
std::vector<plan::Prediction> Plan::predict() const {
    return predict(state_->model);
}

std::string Plan::text() const {
    const plan::Problem& problem = *state_->problem;
    std::string result = problem.source.text() + " -> " + problem.destination.text();
    if (problem.turned()) result += " axes " + layout::text_of(problem.options.axes);
    result += ", " + strategy() + ": " + std::to_string(rounds()) + " rounds";
    try {
        return result + ", " + std::to_string(message_count()) + " messages, " +
               std::to_string(elements_moved()) + " of " + std::to_string(problem.wanted()) +
               " elements move";
    } catch (const LayoutError&) {
        return result;  // too many messages to count
    }
}

}  // namespace hocket
