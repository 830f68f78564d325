// SPDX-License-Identifier: BSD-3-Clause
// Arrays that travel by a strategy of the caller's, and in pieces.
#include "task_arguments.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::Deadline;
using hocket::Verb;

namespace {

struct Given {
    std::vector<Array> arrays;
    hocket::TransferOptions options;
    Deadline deadline;
};

template <class Handle>
Given arguments(const char* function, hocket::Tasks& tasks, Verb verb, std::int64_t count,
                Handle* const* arrays, const hocket_verb_options* options, double timeout) {
    return arguments_of_verb(function, tasks, verb, [&] {
        Given given{arrays_of(count, arrays, "arrays"), {}, deadline_of(timeout)};
        if (options == nullptr) return given;
        if (options->strategy != nullptr) given.options.strategy = options->strategy;
        given.options.stages = options->stages;
        given.options.pieces = options->pieces;
        return given;
    });
}

constexpr double never = -1;

}  // namespace

int hocket_tasks_send_with(hocket_tasks* tasks, int64_t count, const hocket_array* const* arrays,
                           hocket_task_id destination, int tag, const hocket_verb_options* options,
                           double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Given it =
            arguments(function, held->value, Verb::send, count, arrays, options, timeout);
        held->value.send(it.arrays, id_of(destination), tag, it.deadline, it.options);
    });
}

int hocket_tasks_recv_with(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                           hocket_task_id source, int tag, const hocket_verb_options* options,
                           double timeout, hocket_status** status) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Given it =
            arguments(function, held->value, Verb::recv, count, arrays, options, timeout);
        give_status(status,
                    held->value.recv(it.arrays, id_of(source), tag, it.deadline, it.options));
    });
}

int hocket_tasks_isend_with(hocket_tasks* tasks, int64_t count, const hocket_array* const* arrays,
                            hocket_task_id destination, int tag, const hocket_verb_options* options,
                            hocket_request** request) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Given it =
            arguments(function, held->value, Verb::isend, count, arrays, options, never);
        give(request, held->value.isend(it.arrays, id_of(destination), tag, it.options));
    });
}

int hocket_tasks_irecv_with(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                            hocket_task_id source, int tag, const hocket_verb_options* options,
                            hocket_request** request) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Given it =
            arguments(function, held->value, Verb::irecv, count, arrays, options, never);
        give(request, held->value.irecv(it.arrays, id_of(source), tag, it.options));
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
