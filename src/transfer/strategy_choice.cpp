// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/strategy_choice.hpp"

#include <cstdio>
#include <functional>
#include <optional>

#include "base/log.hpp"
#include "base/pack.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"
#include "layout/form.hpp"
#include "plan/problem.hpp"
#include "plan/routing.hpp"
#include "transfer/lru_cache.hpp"
#include "transfer/schedule.hpp"
#include "transport/buffers.hpp"

namespace hocket::transfer {
namespace {

std::vector<std::int64_t> nodes_of(const comm::Link& link, const std::vector<int>& ranks,
                                   std::int64_t processes) {
    std::vector<std::int64_t> nodes;
    for (std::int64_t process = 0; process < processes; ++process)
        nodes.push_back(link.node(ranks[static_cast<std::size_t>(process)]));
    return nodes;
}

std::string key_of(const Layout& source, const Layout& destination, const plan::Options& options) {
    Packer key;
    key.text(layout::label(source.form()))
        .text(layout::label(destination.form()))
        .number(options.itemsize);
    key.text(options.model->text());
    for (const auto* numbers :
         {&options.axes, &options.overlap, &options.source_nodes, &options.destination_nodes}) {
        key.number(static_cast<std::int64_t>(numbers->size()));
        for (const std::int64_t number : *numbers) key.number(number);
    }
    return key.take();
}

void log_choice(const Plan& plan) {
    char seconds[24];
    std::string text = "strategy " + plan.strategy() + " for " + plan.source().text() + " to " +
                       plan.destination().text() + ", as the model predicts";
    const char* separator = " ";
    for (const auto& [strategy, predicted] : plan.predict()) {
        std::snprintf(seconds, sizeof seconds, " %.3g s", predicted);
        text += separator + strategy + seconds;
        separator = ", ";
    }
    log::write(LogLevel::debug, text);
}

}  // namespace

void require_memory_to_forward(const Plan& plan, std::int64_t most) {
    if (plan.strategy() == "direct") return;
    const auto held_by = [&](Side side, std::int64_t rank) {
        std::int64_t bytes = 0;
        for (const plan::Step& step : plan.steps(side, rank))
            bytes += transport::in_lines(step.elements * plan.options().itemsize);
        return bytes;
    };
    const auto check = [&](const char* side, std::int64_t rank, std::int64_t bytes) {
        if (bytes > most)
            throw Error("strategy '" + plan.strategy() + "' has process " + std::to_string(rank) +
                        " of the " + side + " hold " + std::to_string(bytes) +
                        " bytes beside the arrays, but max_buffer (or HOCKET_MAX_BUFFER) allows " +
                        std::to_string(most) + "; allow more, or name 'direct', which goes " +
                        "through buffers of any size");
    };
    std::vector<std::int64_t> sending;
    for (std::int64_t rank = 0; rank < plan.source().size(); ++rank) {
        sending.push_back(held_by(Side::source, rank));
        check("source", rank, sending.back());
    }
    for (std::int64_t rank = 0; rank < plan.destination().size(); ++rank) {
        const std::int64_t same = plan.same_process(rank);
        const std::int64_t as_source = same < 0 ? 0 : sending[static_cast<std::size_t>(same)];
        check("destination", rank, as_source + held_by(Side::destination, rank));
    }
}

plan::Options checked_options(const Layout& source, const Layout& destination,
                              std::vector<std::int64_t> overlap, std::int64_t itemsize,
                              const RedistributeOptions& options) {
    const std::int64_t most = options.max_buffer.value_or(transport::default_buffers());
    transport::require_enough(most);
    plan::Options checked;
    checked.axes = options.axes;
    checked.itemsize = itemsize;
    checked.strategy = options.strategy;
    checked.overlap = std::move(overlap);
    plan::check_stages(plan::strategy_of(checked.strategy), 0, source.size(), destination.size());
    plan::check(source, destination, checked);
    const bool may_forward = options.strategy != "auto" && options.strategy != "direct";
    if (may_forward && (options.max_buffer || transport::requested_buffers()))
        require_memory_to_forward(Plan(source, destination, checked), most);
    return checked;
}

std::string spelled(const RedistributeOptions& options) {
    std::string out;
    if (!options.axes.empty()) out += " by axes " + text::tuple(options.axes);
    if (options.strategy != "auto") out += ", strategy='" + options.strategy + "'";
    return out;
}

comm::Protocol<std::string> agree_on_strategy(comm::Link& link, int tag, comm::CallSignature mine,
                                              const Layout* source, const Layout* destination,
                                              plan::Options options,
                                              const transport::Route& route) {
    if (link.rank() == 0 && options.strategy == "auto" && !mine.fault) {
        try {
            mine.payload = choose_strategy(*source, *destination, options, route);
        } catch (const Error&) {
            mine.fault = comm::Fault::current();
        }
    }
    const std::string chosen = co_await comm::agree(comm::Group::whole(link), tag, std::move(mine));
    co_return options.strategy == "auto" ? chosen : options.strategy;
}

std::string choose_strategy(const Layout& source, const Layout& destination, plan::Options options,
                            const transport::Route& route) {
    if (only_direct(source, destination)) return "direct";
    // One relaying process may have to hold the whole array twice.
    const std::int64_t most =
        route.max_buffer > 0 ? route.max_buffer : transport::default_buffers();
    if (source.num_elements() > most / 2 / options.itemsize) return "direct";
    if (!options.model) options.model = plan::Model::kept();
    options.source_nodes = nodes_of(*route.link, route.source, source.size());
    options.destination_nodes = nodes_of(*route.link, route.destination, destination.size());
    static auto* const chosen = new LruCache<std::string>;
    std::optional<Plan> made;
    const auto strategy = chosen->find_or_make(
        key_of(source, destination, options),
        [&](const std::string&) { return made.emplace(source, destination, options).strategy(); });
    if (made && log::enabled(LogLevel::debug)) log_choice(*made);
    return *strategy;
}

}  // namespace hocket::transfer
