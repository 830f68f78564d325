// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/flow.hpp"

#include <functional>

#include "flow_access.hpp"
#include "hocket/step.hpp"
#include "task_arguments.hpp"

using namespace hocket::c;
using hocket::Access;
using hocket::Flow;

struct hocket_started {
    hocket::flow::Operations operations;
};

namespace {

void require_zero(int code, const char* what) {
    if (code != 0)
        throw hocket::Error(std::string("its ") + what + " returned " + std::to_string(code));
}

hocket::FlowOptions options_of(const hocket_flow_options* given) {
    hocket::FlowOptions options;
    if (given == nullptr) return options;
    if (given->workers != -1) options.workers = given->workers;
    options.window = given->window;
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
    options.threads = given->threads;
    return options;
}

std::string name_of(const char* name) {
    return name == nullptr ? "" : name;
}

// What the handle of an annotated function holds: the arguments of a call are addresses.
struct Annotated {
    std::string name;
    std::function<int(void* const* arguments, hocket_started* started)> function;
    std::vector<int> kinds;
    int priority;
    bool communicates;

    hocket::flow::Operations start(const std::vector<void*>& arguments) const {
        hocket_started started;
        require_zero(function(arguments.data(), &started), "function");
        return std::move(started.operations);
    }
};

std::vector<int> uses_of(std::int64_t count, const int* kinds, bool communicates) {
    const auto uses = list(count, kinds, "kinds");
    for (const int kind : uses)
        if (kind < HOCKET_READS || kind > HOCKET_VALUE || kind == HOCKET_REDUCES ||
            (communicates && kind == HOCKET_COMMUTES))
            throw ArgumentError(std::string("an annotated function") +
                                (communicates ? " that communicates" : "") +
                                " cannot have arguments of kind " + std::to_string(kind));
    return {uses.begin(), uses.end()};
}

thread_local std::vector<std::pair<const hocket_flow*, std::unique_ptr<Flow::Inside>>> entered;

}  // namespace

namespace hocket::c {
template <>
struct Behind<hocket_annotated> {
    using Type = Annotated;
    static constexpr const char* noun = "annotated";
};
}  // namespace hocket::c

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
    return free_handle(__func__, flow);
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
        if (threads < 0)
            throw ArgumentError("'threads' is " + std::to_string(threads) +
                                "; give 1 or more, or 0 for as many as the flow's options say");
        held->value.threads = threads;
    });
}

int hocket_flow_exchange(hocket_flow* flow, const hocket_halo* halo, int priority) {
    return guard(__func__, [&] {
        const auto held = behind(flow);
        const auto around = behind(halo);
        held->value.flow->exchange(around->value, {priority, {}, held->value.threads});
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

int hocket_annotated_make(const char* name, int (*function)(void* const* arguments), int64_t count,
                          const int* kinds, int priority, hocket_annotated** annotated) {
    return guard(__func__, [&] {
        require(annotated, "annotated");
        if (function == nullptr) throw ArgumentError("'function' is NULL; give a function");
        const auto called = [function](void* const* arguments, hocket_started*) {
            return function(arguments);
        };
        give(annotated, Annotated{text_of(name, "name"), called, uses_of(count, kinds, false),
                                  priority, false});
    });
}

int hocket_annotated_make_comm(const char* name,
                               int (*function)(void* const* arguments, hocket_started* started),
                               int64_t count, const int* kinds, int priority,
                               hocket_annotated** annotated) {
    return guard(__func__, [&] {
        require(annotated, "annotated");
        if (function == nullptr) throw ArgumentError("'function' is NULL; give a function");
        give(annotated, Annotated{text_of(name, "name"), function, uses_of(count, kinds, true),
                                  priority, true});
    });
}

int hocket_annotated_call(const hocket_annotated* annotated, int64_t count,
                          const hocket_access* arguments) {
    return guard(__func__, [&] {
        const auto held = behind(annotated);
        const Annotated& called = held->value;
        const auto given = list(count, arguments, "arguments");
        if (given.size() != called.kinds.size())
            throw ArgumentError("step '" + called.name + "' was annotated with " +
                                std::to_string(called.kinds.size()) +
                                " arguments, and is called with " + std::to_string(count));
        std::vector<void*> addresses;
        std::vector<Access> accesses;
        for (std::size_t i = 0; i < given.size(); ++i) {
            addresses.push_back(const_cast<void*>(given[i].data));
            if (called.kinds[i] == HOCKET_VALUE) continue;
            hocket_access access = given[i];
            access.kind = called.kinds[i];
            accesses.push_back(access_of(access));
        }
        if (Flow* const flow = Flow::current()) {
            flow->insert(
                hocket::flow::Body([called, addresses] { return called.start(addresses); }),
                accesses, {called.priority, called.name}, called.communicates);
            return;
        }
        for (const auto& operation : called.start(addresses)) hocket::wait(*operation);
    });
}

int hocket_annotated_free(hocket_annotated** annotated) {
    return free_handle(__func__, annotated);
}
