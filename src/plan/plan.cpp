// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/plan.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "base/text.hpp"
#include "plan/part.hpp"
#include "plan/problem.hpp"
#include "plan/totals.hpp"
#include "plan/turns.hpp"

namespace hocket {

/// Totals cost a look at every process, so that they are worked out when first asked for.
struct Plan::State {
    std::shared_ptr<const plan::Problem> problem;
    std::string strategy;

    mutable std::once_flag turns_once, messages_once, moved_once;
    mutable std::optional<plan::Turns> turns_found;
    mutable std::int64_t messages_found = 0, moved_found = 0;

    const plan::Turns& turns() const {
        std::call_once(turns_once, [this] { turns_found.emplace(problem); });
        return *turns_found;
    }
    std::int64_t messages() const {
        std::call_once(messages_once, [this] { messages_found = plan::count_messages(problem); });
        return messages_found;
    }
    std::int64_t moved() const {
        std::call_once(moved_once, [this] { moved_found = plan::count_moved(*problem); });
        return moved_found;
    }
};

namespace {

std::string choose(const std::string& strategy) {
    const std::array<std::string, 2> known{"auto", "direct"};
    if (std::find(known.begin(), known.end(), strategy) == known.end())
        throw LayoutError("there is no strategy '" + strategy + "'" +
                          text::did_you_mean(strategy, known) + "; choose one of " +
                          text::quoted_list(known));
    return "direct";
}

}  // namespace

Plan::Plan(Layout source, Layout destination, plan::Options options) {
    auto state = std::make_shared<State>();
    state->strategy = choose(options.strategy);
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
    return state_->strategy;
}

std::vector<plan::Traffic> Plan::sends(std::int64_t rank) const {
    return plan::make_part(state_->problem, Side::source, rank)->peers;
}

std::vector<plan::Traffic> Plan::recvs(std::int64_t rank) const {
    return plan::make_part(state_->problem, Side::destination, rank)->peers;
}

std::vector<plan::Step> Plan::steps(Side side, std::int64_t rank) const {
    const auto part = plan::make_part(state_->problem, side, rank);
    const std::int64_t same = state_->problem->same(side, rank);
    const bool sends = side == Side::source;
    std::vector<plan::Step> steps;
    for (const plan::Traffic& peer : part->peers) {
        if (peer.process == same) continue;
        const std::int64_t round = sends ? state_->turns().round(rank, peer.process)
                                         : state_->turns().round(peer.process, rank);
        steps.push_back({round, sends, plan::other(side), peer.process, peer.elements});
    }
    std::sort(steps.begin(), steps.end(),
              [](const plan::Step& a, const plan::Step& b) { return a.round < b.round; });
    return steps;
}

std::int64_t Plan::rounds() const {
    return state_->turns().count();
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
    return {{"direct", plan::predict_direct(state_->problem, model.message, model.byte)}};
}

std::string Plan::text() const {
    const plan::Problem& problem = *state_->problem;
    std::string result = problem.source.text() + " -> " + problem.destination.text();
    if (problem.turned()) result += " axes " + layout::text_of(problem.options.axes);
    return result + ", " + state_->strategy + ": " + std::to_string(rounds()) + " rounds, " +
           std::to_string(message_count()) + " messages, " + std::to_string(elements_moved()) +
           " of " + std::to_string(problem.source.elements() * problem.destination.form().copies) +
           " elements move";
}

}  // namespace hocket
