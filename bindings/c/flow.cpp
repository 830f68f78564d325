// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/flow.hpp"

#include <algorithm>

#include "flow_access.hpp"
#include "task_arguments.hpp"

using namespace hocket::c;
using hocket::Access;
using hocket::Flow;

namespace {

hocket::FlowOptions options_of(const hocket_flow_options* given) {
    hocket::FlowOptions options;
    if (given == nullptr) return options;
    if (given->workers != -1 && given->workers != 0) options.workers = given->workers;
    if (given->window != 0) options.window = given->window;
    switch (given->agent) {
        case HOCKET_AGENT_AUTOMATIC:
            break;
        case HOCKET_AGENT_BETWEEN_STEPS:
            options.agent = hocket::Agent::between_steps;
            break;
        case HOCKET_AGENT_THREAD:
            options.agent = hocket::Agent::thread;
            break;
        default:
            throw ArgumentError("'agent' is " + std::to_string(given->agent) +
                                "; give a HOCKET_AGENT_…");
    }
    options.check = given->check;
    options.record = given->record;
    if (given->threads != 0) options.threads = given->threads;
    return options;
}

std::string name_of(const char* name) {
    return name == nullptr ? "" : name;
}

thread_local std::vector<std::pair<const hocket_flow*, std::unique_ptr<Flow::Inside>>> entered;

}  // namespace

int hocket_flow_options_default(hocket_flow_options* options) {
    return guard(__func__, [&] {
        const hocket::FlowOptions usual;
        required(options, "options") = {-1,          usual.window, HOCKET_AGENT_AUTOMATIC,
                                        usual.check, usual.record, usual.threads};
    });
}

int hocket_flow_make(const hocket_flow_options* options, hocket_flow** flow) {
    return guard(__func__, [&] {
        require(flow, "flow");
        give(flow, {std::make_shared<Flow>(options_of(options))});
    });
}

int hocket_flow_free(hocket_flow** flow) {
    return guard(__func__, [&] {
        const hocket_flow* const freed = required(flow, "flow");
        const auto held = behind(freed);
        const auto is_it = [&](const auto& each) { return each.first == freed; };
        if (Flow::current() == held->value.flow.get() ||
            std::any_of(entered.begin(), entered.end(), is_it))
            throw hocket::Error(
                "this thread is inside the flow; free it after the step, and after "
                "hocket_flow_leave");
        held->value.flow->close();  // its steps may use the handle
        leave(*flow, Behind<hocket_flow>::noun);
        *flow = nullptr;
    });
}

int hocket_reduction_make(const char* name, void (*fill)(void* context, void* part, int64_t bytes),
                          void (*combine)(void* context, void* into, const void* part,
                                          int64_t bytes),
                          void* context, hocket_reduction** reduction) {
    return guard(__func__, [&] {
        if (fill == nullptr || combine == nullptr)
            throw ArgumentError("'fill' or 'combine' is NULL; give both functions");
        give(reduction, ReductionBy{text_of(name, "name"), fill, combine, context});
    });
}

int hocket_reduction_free(hocket_reduction** reduction) {
    return free_handle(__func__, reduction);
}

int hocket_flow_task(hocket_flow* flow, int (*function)(void* context, void* const* parts),
                     void* context, int64_t count, const hocket_access* accesses, int priority,
                     const char* name) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        if (function == nullptr) throw ArgumentError("'function' is NULL; give a function");
        const auto all = accesses_of(count, accesses);
        std::size_t reduced = 0;
        for (const Access& access : all) reduced += access.kind == Access::Kind::reduce;
        held->value.flow->task(
            [function, context, reduced](hocket::flow::Here& here) {
                std::vector<void*> parts;
                for (std::size_t i = 0; i < reduced; ++i) parts.push_back(here.part(i));
                require_zero(function(context, parts.data()), "function");
            },
            std::span<const Access>(all), {priority, name_of(name), held->value.threads});
    });
}

int hocket_flow_blocking_task(hocket_flow* flow, int (*function)(void* context), void* context,
                              int64_t count, const hocket_access* accesses, int priority,
                              const char* name) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        if (function == nullptr) throw ArgumentError("'function' is NULL; give a function");
        const auto all = accesses_of(count, accesses);
        held->value.flow->blocking_task(
            [function, context] { require_zero(function(context), "function"); },
            std::span<const Access>(all), {priority, name_of(name), held->value.threads});
    });
}

int hocket_flow_comm(hocket_flow* flow, int (*function)(void* context, hocket_started* started),
                     void* context, int64_t count, const hocket_access* accesses, int priority,
                     const char* name) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        if (function == nullptr) throw ArgumentError("'function' is NULL; give a function");
        const auto all = accesses_of(count, accesses);
        held->value.flow->comm(
            [function, context] {
                hocket_started started;
                require_zero(function(context, &started), "function");
                return std::move(started.operations);
            },
            std::span<const Access>(all), {priority, name_of(name), held->value.threads});
    });
}

int hocket_started_add(hocket_started* started, hocket_operation** operation) {
    return guard(__func__, [&] {
        auto& operations = required(started, "started").operations;
        operations.push_back(behind(required(operation, "operation"))->value);
        leave(*operation, Behind<hocket_operation>::noun);
        *operation = nullptr;
    });
}

int hocket_flow_send(hocket_flow* flow, const hocket_tasks* tasks, const hocket_array* array,
                     hocket_task_id destination, int tag, int priority) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        const auto speaker = behind(tasks);
        const auto sent = behind(array);
        held->value.flow->send(speaker->value, sent->value, id_of(destination), tag,
                               {priority, {}, held->value.threads});
    });
}

int hocket_flow_recv(hocket_flow* flow, const hocket_tasks* tasks, const hocket_array* array,
                     hocket_task_id source, int tag, int priority) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        const auto speaker = behind(tasks);
        const auto received = behind(array);
        held->value.flow->recv(speaker->value, received->value, id_of(source), tag,
                               {priority, {}, held->value.threads});
    });
}

int hocket_flow_step_threads(hocket_flow* flow, int threads) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        held->value.threads = share_of(threads);
    });
}

int hocket_flow_exchange(hocket_flow* flow, const hocket_halo* halo, int priority) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        const auto around = behind(halo);
        held->value.flow->exchange(around->value, {priority, {}, held->value.threads});
    });
}

int hocket_flow_transfer(hocket_flow* flow, const hocket_transfer* transfer,
                         const hocket_array* source, hocket_array* destination, int priority) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        const auto ready = behind(transfer);
        const auto from = behind(source), to = behind(destination);
        held->value.flow->transfer(ready->value, from->value, to->value,
                                   {priority, {}, held->value.threads});
    });
}

int hocket_flow_write(hocket_flow* flow, hocket_store* store, const char* name,
                      const hocket_array* array, int priority) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        const auto opened = behind(store);
        held->value.flow->write(opened->value, text_of(name, "name"), behind(array)->value,
                                {priority, {}, held->value.threads});
    });
}

int hocket_flow_read(hocket_flow* flow, hocket_store* store, const char* name, hocket_array* array,
                     int priority) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        const auto opened = behind(store);
        held->value.flow->read(opened->value, text_of(name, "name"), behind(array)->value,
                               {priority, {}, held->value.threads});
    });
}

int hocket_flow_wait(hocket_flow* flow, double timeout) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        held->value.flow->wait(deadline_of(timeout));
    });
}

int hocket_flow_wait_on(hocket_flow* flow, const hocket_access* region, double timeout) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        held->value.flow->wait_on(region_of(required(region, "region")), deadline_of(timeout));
    });
}

int hocket_flow_cancel(hocket_flow* flow) {
    return guard(__func__, [&] { behind(flow)->value.flow->cancel(); });
}

int hocket_flow_give_way(hocket_flow* flow) {
    return guard(__func__, [&] { behind(flow)->value.flow->give_way(); });
}

int hocket_flow_workers(const hocket_flow* flow, int* workers) {
    return guard(__func__,
                 [&] { required(workers, "workers") = behind(flow)->value.flow->workers(); });
}

int hocket_flow_agent_thread(const hocket_flow* flow, bool* agent_thread) {
    return guard(__func__, [&] {
        required(agent_thread, "agent_thread") = behind(flow)->value.flow->agent_thread();
    });
}

int hocket_flow_steps(const hocket_flow* flow, int64_t* steps) {
    return guard(__func__, [&] { required(steps, "steps") = behind(flow)->value.flow->steps(); });
}

int hocket_flow_dot(hocket_flow* flow, const char** text) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        required(text, "text") = held->keep(held->value.flow->dot());
    });
}

int hocket_flow_svg(hocket_flow* flow, const char** text) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        required(text, "text") = held->keep(held->value.flow->svg());
    });
}

int hocket_flow_enter(hocket_flow* flow) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        entered.emplace_back(flow, std::make_unique<Flow::Inside>(*held->value.flow));
    });
}

int hocket_flow_leave(hocket_flow* flow) {
    return guard(__func__, [&] {
        if (entered.empty() || entered.back().first != flow)
            throw hocket::Error(
                "this thread did not enter that flow, or another one after it; leave the one that "
                "was entered last");
        entered.pop_back();
    });
}

int hocket_flow_inside(bool* inside) {
    return guard(__func__, [&] { required(inside, "inside") = Flow::current() != nullptr; });
}
