// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests and channels.
#include "task_arguments.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::Deadline;

namespace {

// For one array, or for any array of a layout.
int init(const char* function, hocket_tasks* tasks, bool sending, const hocket_array* array,
         hocket_task_id other, const hocket_init_options* given, hocket_request** request) {
    return guard(function, [&] {
        const auto held = behind(tasks);
        std::optional<hocket::Layout> layout;
        std::optional<Array> bound;
        hocket::InitOptions options;
        const hocket::TaskId id = id_of(other);
        arguments_of_init(
            function, held->value, sending, id, given != nullptr ? given->tag : 0, [&] {
                require(request, "request");
                const hocket_layout* any = nullptr;
                if (given != nullptr) {
                    require_no_reserved(given->reserved);
                    any = given->layout;
                    options.tag = given->tag;
                    if (given->count != 0) options.count = given->count;
                    if (given->strategy != nullptr) options.strategy = given->strategy;
                    options.stages = given->stages;
                }
                if (array != nullptr && any != nullptr)
                    throw ArgumentError("there is an array and a layout; give one of them");
                if (any != nullptr)
                    layout = behind(any)->value;
                else
                    bound = behind(array)->value;
                return true;
            });
        const auto made = [&](const auto& what) {
            return sending ? held->value.send_init(what, id, options)
                           : held->value.recv_init(what, id, options);
        };
        give(request, layout ? made(*layout) : made(*bound));
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
        [&](const std::string& message) {
            hocket::Binding::refuse(channel, sending, argument_error, message);
        });
}

}  // namespace

int hocket_tasks_send_init(hocket_tasks* tasks, const hocket_array* array,
                           hocket_task_id destination, const hocket_init_options* options,
                           hocket_request** request) {
    return init(__func__, tasks, true, array, destination, options, request);
}
int hocket_tasks_recv_init(hocket_tasks* tasks, const hocket_array* array, hocket_task_id source,
                           const hocket_init_options* options, hocket_request** request) {
    return init(__func__, tasks, false, array, source, options, request);
}

int hocket_tasks_channel(const hocket_tasks* tasks, const char* name, hocket_task_id other,
                         const hocket_channel_options* options, hocket_channel** channel) {
    return guard(__func__, [&] {
        hocket::ChannelOptions all;
        if (options != nullptr) {
            all.keep = options->keep;
            if (options->resume) all.last = options->last;
            if (options->backpressure != nullptr) all.backpressure = options->backpressure;
        }
        give(channel, behind(tasks)->value.channel(text_of(name, "name"), id_of(other), all));
    });
}

int hocket_channel_sent(const hocket_channel* channel, int64_t* frames) {
    return guard(__func__, [&] { required(frames, "frames") = behind(channel)->value.sent(); });
}

int hocket_channel_received(const hocket_channel* channel, int64_t* frames) {
    return guard(__func__, [&] { required(frames, "frames") = behind(channel)->value.received(); });
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
            [&](const std::string& message) {
                hocket::Binding::refuse(held->value, true, argument_error, message);
            });
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
        hocket::Binding::refuse(held->value, sending, class_of(code), words, deadline_of(timeout));
    });
}

int hocket_channel_free(hocket_channel** channel) {
    return free_handle(__func__, channel);
}
