// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/plan.hpp"

#include "handles.hpp"

using namespace hocket::c;
using hocket::Layout;
using hocket::Plan;
using hocket::Side;

namespace {

Side side_of(int side) {
    if (side != HOCKET_SOURCE && side != HOCKET_DESTINATION)
        throw ArgumentError("there is no side " + std::to_string(side) +
                            "; give HOCKET_SOURCE or HOCKET_DESTINATION");
    return side == HOCKET_SOURCE ? Side::source : Side::destination;
}

hocket::plan::Model model_of(const hocket_model& given) {
    return {given.message,     given.byte,     given.copy,     given.relay,
            given.far_message, given.far_byte, given.far_relay};
}

hocket_model model_for_c(const hocket::plan::Model& model) {
    return {model.message,     model.byte,     model.copy,     model.relay,
            model.far_message, model.far_byte, model.far_relay};
}

// Lives until the next call of this thread.
const char* kept_text(std::string text) {
    static thread_local std::string last;
    last = std::move(text);
    return last.c_str();
}

hocket::plan::Options options_of(const hocket_plan_options& given, const Layout& source,
                                 const Layout& destination) {
    hocket::plan::Options options;
    if (given.axes != nullptr) options.axes.assign(given.axes, given.axes + source.dimensions());
    if (given.itemsize != 0) options.itemsize = given.itemsize;
    if (given.strategy != nullptr) options.strategy = given.strategy;
    if (given.overlap != nullptr)
        options.overlap.assign(given.overlap, given.overlap + destination.size());
    options.stages = given.stages;
    if (given.model != nullptr) options.model = model_of(*given.model);
    if (given.source_nodes != nullptr)
        options.source_nodes.assign(given.source_nodes, given.source_nodes + source.size());
    if (given.destination_nodes != nullptr)
        options.destination_nodes.assign(given.destination_nodes,
                                         given.destination_nodes + destination.size());
    return options;
}

const std::int64_t* pointer_to(const std::vector<std::int64_t>& values) {
    return values.empty() ? nullptr : values.data();
}

std::vector<hocket_traffic> traffic_of(const std::vector<hocket::plan::Traffic>& found) {
    std::vector<hocket_traffic> out;
    for (const auto& [process, elements] : found) out.push_back({process, elements});
    return out;
}

// The boxes with one peer; the numbers that they point to go to `lists`.
std::vector<hocket_box> boxes_of(const hocket::plan::Part& part, std::int64_t peer,
                                 std::vector<std::vector<std::int64_t>>& lists) {
    std::vector<hocket_box> out;
    const auto keep = [&](std::vector<std::int64_t> values) {
        return pointer_to(lists.emplace_back(std::move(values)));
    };
    for (std::size_t k = 0; k < part.peers().size(); ++k) {
        if (part.peers()[k].process != peer) continue;
        for (const auto& box : part.boxes(k)) {
            std::vector<std::int64_t> extent, dimension[2], step[2];
            for (const auto& loop : box.loops) {
                extent.push_back(loop.extent);
                dimension[0].push_back(loop.source_dimension);
                dimension[1].push_back(loop.destination_dimension);
                step[0].push_back(loop.source_step);
                step[1].push_back(loop.destination_step);
            }
            hocket_box made{};
            made.source_dimensions = static_cast<std::int64_t>(box.source_first.size());
            made.destination_dimensions = static_cast<std::int64_t>(box.destination_first.size());
            made.loops = static_cast<std::int64_t>(box.loops.size());
            made.source_first = keep(box.source_first);
            made.destination_first = keep(box.destination_first);
            made.extent = keep(extent);
            made.source_dimension = keep(dimension[0]);
            made.destination_dimension = keep(dimension[1]);
            made.source_step = keep(step[0]);
            made.destination_step = keep(step[1]);
            out.push_back(made);
        }
    }
    return out;
}

}  // namespace

int hocket_plan_make(const hocket_layout* source, const hocket_layout* destination,
                     const hocket_plan_options* options, hocket_plan** plan) {
    return guard(__func__, [&] {
        const Layout from = behind(source)->value, to = behind(destination)->value;
        const hocket_plan_options none{};
        const Plan made(from, to, options_of(options != nullptr ? *options : none, from, to));
        give(plan, {made, {}, model_for_c(made.options().model.value_or(hocket::plan::Model{}))});
    });
}

int hocket_plan_free(hocket_plan** plan) {
    return free_handle(__func__, plan);
}

int hocket_plan_source(const hocket_plan* plan, hocket_layout** layout) {
    return guard(__func__, [&] { give(layout, behind(plan)->value.plan.source()); });
}

int hocket_plan_destination(const hocket_plan* plan, hocket_layout** layout) {
    return guard(__func__, [&] { give(layout, behind(plan)->value.plan.destination()); });
}

int hocket_plan_strategy(const hocket_plan* plan, const char** strategy) {
    return guard(__func__, [&] {
        required(strategy, "strategy") = behind(plan)->value.plan.strategy().c_str();
    });
}

int hocket_plan_text(const hocket_plan* plan, const char** text) {
    return guard(__func__, [&] {
        const auto held = behind(plan);
        required(text, "text") = held->keep(held->value.plan.text());
    });
}

int hocket_plan_options_get(const hocket_plan* plan, hocket_plan_options* options) {
    return guard(__func__, [&] {
        const auto held = behind(plan);
        const auto& kept = held->value.plan.options();
        hocket_plan_options& out = required(options, "options");
        out = {pointer_to(kept.axes),
               kept.itemsize,
               kept.strategy.c_str(),
               pointer_to(kept.overlap),
               kept.stages,
               nullptr,
               pointer_to(kept.source_nodes),
               pointer_to(kept.destination_nodes)};
        if (kept.model) out.model = &held->value.model;
    });
}

int hocket_plan_sends(const hocket_plan* plan, int64_t rank, int64_t capacity,
                      hocket_traffic* values, int64_t* count) {
    return guard(__func__, [&] {
        write_list(traffic_of(behind(plan)->value.plan.sends(rank)), capacity, values, count);
    });
}

int hocket_plan_recvs(const hocket_plan* plan, int64_t rank, int64_t capacity,
                      hocket_traffic* values, int64_t* count) {
    return guard(__func__, [&] {
        write_list(traffic_of(behind(plan)->value.plan.recvs(rank)), capacity, values, count);
    });
}

int hocket_plan_steps(const hocket_plan* plan, int side, int64_t rank, int64_t capacity,
                      hocket_step* values, int64_t* count) {
    return guard(__func__, [&] {
        const auto held = behind(plan);
        std::vector<hocket_step> steps;
        for (const auto& step : held->value.plan.steps(side_of(side), rank))
            steps.push_back({step.round, step.send,
                             step.peer_side == Side::source ? HOCKET_SOURCE : HOCKET_DESTINATION,
                             step.peer, step.elements});
        write_list(steps, capacity, values, count);
    });
}

int hocket_plan_cargo(const hocket_plan* plan, int side, int64_t rank, int64_t step,
                      int64_t capacity, hocket_parcel* values, int64_t* count) {
    return guard(__func__, [&] {
        const auto all = behind(plan)->value.plan.cargo(side_of(side), rank);
        if (step < 0 || step >= static_cast<std::int64_t>(all.size()))
            throw ArgumentError("there is no message number " + std::to_string(step) +
                                "; process " + std::to_string(rank) + " takes part in " +
                                std::to_string(all.size()));
        std::vector<hocket_parcel> out;
        for (const auto& [source, destination, elements] : all[static_cast<std::size_t>(step)])
            out.push_back({source, destination, elements});
        write_list(out, capacity, values, count);
    });
}

int hocket_plan_common(const hocket_plan* plan, int side, int64_t rank, int64_t capacity,
                       hocket_traffic* values, int64_t* count) {
    return guard(__func__, [&] {
        write_list(traffic_of(behind(plan)->value.plan.common(side_of(side), rank)), capacity,
                   values, count);
    });
}

int hocket_plan_boxes(hocket_plan* plan, int side, int64_t rank, int64_t peer, int64_t capacity,
                      hocket_box* values, int64_t* count) {
    return guard(__func__, [&] {
        const auto held = behind(plan);
        std::vector<std::vector<std::int64_t>> lists;
        const auto boxes = boxes_of(held->value.plan.part(side_of(side), rank), peer, lists);
        write_list(boxes, capacity, values, count);
        if (values != nullptr) held->value.lists = std::move(lists);
    });
}

int hocket_plan_rounds(const hocket_plan* plan, int64_t* rounds) {
    return guard(__func__, [&] { required(rounds, "rounds") = behind(plan)->value.plan.rounds(); });
}

int hocket_plan_message_count(const hocket_plan* plan, int64_t* messages) {
    return guard(__func__, [&] {
        required(messages, "messages") = behind(plan)->value.plan.message_count();
    });
}

int hocket_plan_elements_moved(const hocket_plan* plan, int64_t* elements) {
    return guard(__func__, [&] {
        required(elements, "elements") = behind(plan)->value.plan.elements_moved();
    });
}

int hocket_plan_same_process(const hocket_plan* plan, int64_t rank, int64_t* source_rank) {
    return guard(__func__, [&] {
        required(source_rank, "source_rank") = behind(plan)->value.plan.same_process(rank);
    });
}

int hocket_plan_predict(const hocket_plan* plan, const hocket_model* model, int64_t capacity,
                        hocket_prediction* values, int64_t* count) {
    return guard(__func__, [&] {
        const auto held = behind(plan);
        const Plan& asked = held->value.plan;
        std::vector<hocket_prediction> out;
        for (const auto& [strategy, seconds] :
             model != nullptr ? asked.predict(model_of(*model)) : asked.predict()) {
            hocket_prediction made{};
            strategy.copy(made.strategy, sizeof made.strategy - 1);
            made.seconds = seconds;
            out.push_back(made);
        }
        write_list(out, capacity, values, count);
    });
}

int hocket_model_default(hocket_model* model) {
    return guard(__func__, [&] { required(model, "model") = model_for_c({}); });
}
int hocket_model_kept(hocket_model* model) {
    return guard(__func__,
                 [&] { required(model, "model") = model_for_c(hocket::plan::Model::kept()); });
}
int hocket_model_kept_path(const char** path) {
    return guard(__func__,
                 [&] { required(path, "path") = kept_text(hocket::plan::Model::kept_path()); });
}
int hocket_model_text(const hocket_model* model, const char** text) {
    return guard(__func__, [&] {
        required(text, "text") = kept_text(model_of(required(model, "model")).text());
    });
}
int hocket_model_parse(const char* text, hocket_model* model) {
    return guard(__func__, [&] {
        required(model, "model") = model_for_c(hocket::plan::Model::parse(text_of(text, "text")));
    });
}

int hocket_relabel(const hocket_layout* source, const hocket_layout* destination,
                   const int64_t* axes, int64_t capacity, int64_t* values, int64_t* count,
                   int64_t* moved, int64_t* moved_without) {
    return guard(__func__, [&] {
        const Layout from = behind(source)->value, to = behind(destination)->value;
        std::vector<std::int64_t> order;
        if (axes != nullptr) order.assign(axes, axes + from.dimensions());
        const hocket::plan::Relabeling found = hocket::relabel(from, to, std::move(order));
        write_list(found.ranks, capacity, values, count);
        if (moved != nullptr) *moved = found.moved;
        if (moved_without != nullptr) *moved_without = found.moved_without;
    });
}
