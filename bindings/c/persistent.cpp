// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests and channels.
#include "task_arguments.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::Deadline;
using hocket::Verb;

namespace {

hocket::InitOptions options_of(std::int64_t count, const char* strategy) {
    hocket::InitOptions options;
    if (count != 0) options.count = count;
    if (strategy != nullptr) options.strategy = strategy;
    return options;
}

// `what`: an array's or a layout's handle.
template <class Handle>
int init(const char* function, hocket_tasks* tasks, Verb verb, const Handle* what,
         hocket_task_id other, int tag, std::int64_t count, const char* strategy,
         hocket_request** request) {
    return guard(function, [&] {
        const auto held = behind(tasks);
        const auto bound = arguments_of_verb(function, held->value, verb, [&] {
            require(request, "request");
            return behind(what);
        });
        const auto options = options_of(count, strategy);
        give(request, verb == Verb::send_init
                          ? held->value.send_init(bound->value, id_of(other), tag, options)
                          : held->value.recv_init(bound->value, id_of(other), tag, options));
    });
}

struct Arguments {
    Array array;
    Deadline deadline;
};
Arguments arguments(const char* function, hocket::Channel& channel, bool sending,
                    const hocket_array* array, double timeout) {
    return arguments_of(
        function,
        [&] {
            return Arguments{behind(array)->value, deadline_of(timeout)};
        },
        [&](const std::string& message) { channel.refuse(sending, argument_error, message); });
}

}  // namespace

int hocket_tasks_send_init(hocket_tasks* tasks, const hocket_array* array,
                           hocket_task_id destination, int tag, int64_t count, const char* strategy,
                           hocket_request** request) {
    return init(__func__, tasks, Verb::send_init, array, destination, tag, count, strategy,
                request);
}
int hocket_tasks_recv_init(hocket_tasks* tasks, hocket_array* array, hocket_task_id source, int tag,
                           int64_t count, const char* strategy, hocket_request** request) {
    return init(__func__, tasks, Verb::recv_init, array, source, tag, count, strategy, request);
}
int hocket_tasks_send_init_layout(hocket_tasks* tasks, const hocket_layout* layout,
                                  hocket_task_id destination, int tag, int64_t count,
                                  const char* strategy, hocket_request** request) {
    return init(__func__, tasks, Verb::send_init, layout, destination, tag, count, strategy,
                request);
}
int hocket_tasks_recv_init_layout(hocket_tasks* tasks, const hocket_layout* layout,
                                  hocket_task_id source, int tag, int64_t count,
                                  const char* strategy, hocket_request** request) {
    return init(__func__, tasks, Verb::recv_init, layout, source, tag, count, strategy, request);
}

int hocket_tasks_channel(const hocket_tasks* tasks, const char* name, hocket_task_id other,
                         hocket_channel** channel) {
    return guard(__func__, [&] {
        give(channel, behind(tasks)->value.channel(text_of(name, "name"), id_of(other)));
    });
}

int hocket_channel_send(hocket_channel* channel, const hocket_array* array, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(channel);
        const auto given = arguments(function, held->value, true, array, timeout);
        held->value.send(given.array, given.deadline);
    });
}

int hocket_channel_recv(hocket_channel* channel, hocket_array* array, double timeout,
                        hocket_status** status) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(channel);
        const auto given = arguments(function, held->value, false, array, timeout);
        give_status(status, held->value.recv(given.array, given.deadline));
    });
}

int hocket_channel_close(hocket_channel* channel, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(channel);
        const Deadline deadline = arguments_of(
            function, [&] { return deadline_of(timeout); },
            [&](const std::string& message) { held->value.refuse(true, argument_error, message); });
        held->value.close(deadline);
    });
}

int hocket_channel_name(const hocket_channel* channel, const char** name) {
    return guard(__func__, [&] {
        const auto held = behind(channel);
        required(name, "name") = held->keep(held->value.name());
    });
}

int hocket_channel_refuse(hocket_channel* channel, bool sending, int code, const char* message,
                          double timeout) {
    return guard(__func__, [&] {
        const auto held = behind(channel);
        const std::string words = text_of(message, "message");
        if (class_of(code) == nullptr)
            throw ArgumentError(std::to_string(code) + " is no code of an error");
        held->value.refuse(sending, class_of(code), words, deadline_of(timeout));
    });
}

int hocket_channel_free(hocket_channel** channel) {
    return free_handle(__func__, channel);
}
