// SPDX-License-Identifier: BSD-3-Clause
// Messages between tasks: each is a list of arrays.
#include "task_arguments.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::MessageOptions;

namespace {

constexpr double never = -1;

struct Message {
    std::vector<Array> arrays;
    MessageOptions options;
};

MessageOptions options_of(const hocket_message_options* given, double timeout) {
    MessageOptions options;
    options.deadline = deadline_of(timeout);
    options.tag = 0;
    if (given == nullptr) return options;
    require_no_reserved(given->reserved);
    options.tag = given->tag;
    options.later = given->later;
    if (given->strategy != nullptr) options.strategy = given->strategy;
    options.stages = given->stages;
    options.pieces = given->pieces;
    return options;
}

// For a verb that blocks.
Message message_of(const char* function, hocket::Tasks& tasks, const char* verb, std::int64_t count,
                   hocket_array* const* arrays, const hocket_message_options* options,
                   double timeout) {
    return arguments_of_verb(function, tasks, verb, [&] {
        return Message{arrays_of(count, arrays, "arrays"), options_of(options, timeout)};
    });
}

// For a verb that starts.
Message message_of(const char* function, hocket::Tasks& tasks, const char* verb, std::int64_t count,
                   hocket_array* const* arrays, const hocket_message_options* options,
                   hocket_request** request) {
    return arguments_of_verb(function, tasks, verb, [&] {
        require(request, "request");
        return Message{arrays_of(count, arrays, "arrays"), options_of(options, never)};
    });
}

// One of the arrays in a status.
hocket::Status::Further described(const hocket::Status& status, std::int64_t index) {
    if (index == 0) return {status.layout, status.dtype};
    if (index < 0 || static_cast<std::size_t>(index) > status.further.size())
        throw ArgumentError("there is no array " + std::to_string(index) + "; the message has " +
                            std::to_string(status.further.size() + 1));
    return status.further[static_cast<std::size_t>(index - 1)];
}

}  // namespace

int hocket_tasks_send(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                      hocket_task_id destination, const hocket_message_options* options,
                      double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Message it =
            message_of(function, held->value, "send", count, arrays, options, timeout);
        held->value.send(it.arrays, id_of(destination), it.options);
    });
}

int hocket_tasks_recv(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                      hocket_task_id source, const hocket_message_options* options, double timeout,
                      hocket_status** status) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Message it =
            message_of(function, held->value, "recv", count, arrays, options, timeout);
        give_status(status, held->value.recv(it.arrays, id_of(source), it.options));
    });
}

int hocket_tasks_sendrecv(hocket_tasks* tasks, int64_t sent_count, hocket_array* const* sent,
                          hocket_task_id destination, int64_t received_count,
                          hocket_array* const* received, hocket_task_id source,
                          const hocket_sendrecv_options* options, double timeout,
                          hocket_status** status) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        struct Both {
            std::vector<Array> out, in;
            hocket::SendrecvOptions options;
        };
        const auto given = arguments_of_verb(function, held->value, "sendrecv", [&] {
            Both both{arrays_of(sent_count, sent, "sent"),
                      arrays_of(received_count, received, "received"),
                      {0, 0, deadline_of(timeout)}};
            if (options == nullptr) return both;
            require_no_reserved(options->reserved);
            both.options.send_tag = options->send_tag;
            both.options.receive_tag = options->receive_tag;
            return both;
        });
        give_status(status, held->value.sendrecv(given.out, id_of(destination), given.in,
                                                 id_of(source), given.options));
    });
}

int hocket_tasks_isend(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                       hocket_task_id destination, const hocket_message_options* options,
                       hocket_request** request) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Message it =
            message_of(function, held->value, "isend", count, arrays, options, request);
        give(request, held->value.isend(it.arrays, id_of(destination), it.options));
    });
}

int hocket_tasks_irecv(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                       hocket_task_id source, const hocket_message_options* options,
                       hocket_request** request) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Message it =
            message_of(function, held->value, "irecv", count, arrays, options, request);
        give(request, held->value.irecv(it.arrays, id_of(source), it.options));
    });
}

int hocket_request_pieces(hocket_request* request, double timeout, int64_t* pieces) {
    return guard(__func__, [&] {
        required(pieces, "pieces") = behind(request)->value.pieces(deadline_of(timeout));
    });
}

int hocket_request_wait_piece(hocket_request* request, int64_t piece, double timeout,
                              int64_t* dimension, int64_t* first, int64_t* last) {
    return guard(__func__, [&] {
        const auto found = behind(request)->value.wait_piece(piece, deadline_of(timeout));
        if (dimension != nullptr) *dimension = found.dimension;
        if (first != nullptr) *first = found.first;
        if (last != nullptr) *last = found.last;
    });
}

int hocket_status_count(const hocket_status* status, int64_t* count) {
    return guard(__func__, [&] {
        required(count, "count") =
            static_cast<std::int64_t>(behind(status)->value.further.size() + 1);
    });
}

int hocket_status_layout_at(const hocket_status* status, int64_t index, hocket_layout** layout) {
    return guard(__func__, [&] { give(layout, described(behind(status)->value, index).layout); });
}

int hocket_status_dtype_at(const hocket_status* status, int64_t index, const char** dtype,
                           int64_t* itemsize) {
    return guard(__func__, [&] {
        const auto held = behind(status);
        const auto one = described(held->value, index);
        const char*& name = required(dtype, "dtype");
        required(itemsize, "itemsize") = one.dtype.size;
        name = held->keep(one.dtype.name);
    });
}
