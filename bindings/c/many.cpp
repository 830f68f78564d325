// SPDX-License-Identifier: BSD-3-Clause
// Several arrays as one message.
#include "task_arguments.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::Deadline;
using hocket::Verb;

namespace {

struct Given {
    std::vector<Array> arrays;
    Deadline deadline;
};
template <class Handle>
Given blocking(const char* function, hocket::Tasks& tasks, Verb verb, std::int64_t count,
               Handle* const* arrays, double timeout) {
    return arguments_of_verb(function, tasks, verb, [&] {
        return Given{arrays_of(count, arrays, "arrays"), deadline_of(timeout)};
    });
}
template <class Handle>
std::vector<Array> starting(const char* function, hocket::Tasks& tasks, Verb verb,
                            std::int64_t count, Handle* const* arrays, hocket_request** request) {
    return arguments_of_verb(function, tasks, verb, [&] {
        require(request, "request");
        return arrays_of(count, arrays, "arrays");
    });
}

// One of the arrays that a status tells of.
hocket::Status::Further described(const hocket::Status& status, std::int64_t index) {
    if (index == 0) return {status.layout, status.dtype};
    if (index < 0 || static_cast<std::size_t>(index) > status.further.size())
        throw ArgumentError("there is no array " + std::to_string(index) + "; the message has " +
                            std::to_string(status.further.size() + 1));
    return status.further[static_cast<std::size_t>(index - 1)];
}

}  // namespace

int hocket_tasks_send_many(hocket_tasks* tasks, int64_t count, const hocket_array* const* arrays,
                           hocket_task_id destination, int tag, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const auto given = blocking(function, held->value, Verb::send, count, arrays, timeout);
        held->value.send(given.arrays, id_of(destination), tag, given.deadline);
    });
}

int hocket_tasks_recv_many(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                           hocket_task_id source, int tag, double timeout, hocket_status** status) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const auto given = blocking(function, held->value, Verb::recv, count, arrays, timeout);
        give_status(status, held->value.recv(given.arrays, id_of(source), tag, given.deadline));
    });
}

int hocket_tasks_sendrecv_many(hocket_tasks* tasks, int64_t sent_count,
                               const hocket_array* const* sent, hocket_task_id destination,
                               int send_tag, int64_t received_count, hocket_array* const* received,
                               hocket_task_id source, int receive_tag, double timeout,
                               hocket_status** status) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        struct Both {
            std::vector<Array> out, in;
            Deadline deadline;
        };
        const auto given = arguments_of_verb(function, held->value, Verb::sendrecv, [&] {
            return Both{arrays_of(sent_count, sent, "sent"),
                        arrays_of(received_count, received, "received"), deadline_of(timeout)};
        });
        give_status(status,
                    held->value.sendrecv(given.out, id_of(destination), given.in, id_of(source),
                                         send_tag, receive_tag, given.deadline));
    });
}

int hocket_tasks_isend_many(hocket_tasks* tasks, int64_t count, const hocket_array* const* arrays,
                            hocket_task_id destination, int tag, hocket_request** request) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const auto given = starting(function, held->value, Verb::isend, count, arrays, request);
        give(request, held->value.isend(given, id_of(destination), tag));
    });
}

int hocket_tasks_irecv_many(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                            hocket_task_id source, int tag, hocket_request** request) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const auto given = starting(function, held->value, Verb::irecv, count, arrays, request);
        give(request, held->value.irecv(given, id_of(source), tag));
    });
}

int hocket_tasks_isend_later(hocket_tasks* tasks, int64_t count, const hocket_array* const* arrays,
                             hocket_task_id destination, int tag, hocket_request** request) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const auto given = starting(function, held->value, Verb::isend, count, arrays, request);
        give(request, held->value.isend_later(given, id_of(destination), tag));
    });
}

int hocket_tasks_irecv_later(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                             hocket_task_id source, int tag, hocket_request** request) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const auto given = starting(function, held->value, Verb::irecv, count, arrays, request);
        give(request, held->value.irecv_later(given, id_of(source), tag));
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
