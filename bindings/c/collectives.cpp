// SPDX-License-Identifier: BSD-3-Clause
// Collective calls between tasks.
#include "task_arguments.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::Deadline;

namespace {

struct Given {
    std::vector<Array> array, results;  // the array: one, or none for a barrier
    std::string op;
    Deadline deadline;
};

// `op` NULL: the call has no operation. `results` NULL: it may have no result here.
Given arguments(const char* function, hocket::Tasks& tasks, const hocket_array* const* array,
                std::int64_t count, hocket_array* const* results, const char* const* op,
                double timeout) {
    return arguments_of_verb(function, tasks, "collective", [&] {
        Given given;
        if (array != nullptr) given.array.push_back(behind(*array)->value);
        if (results != nullptr) given.results = arrays_of(count, results, "results");
        if (op != nullptr) given.op = text_of(*op, "op");
        given.deadline = deadline_of(timeout);
        return given;
    });
}

}  // namespace

int hocket_tasks_bcast(hocket_tasks* tasks, hocket_array* array, hocket_task_id root,
                       double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Given it = arguments(function, held->value, &array, 0, nullptr, nullptr, timeout);
        held->value.bcast(it.array[0], id_of(root), it.deadline);
    });
}

int hocket_tasks_reduce(hocket_tasks* tasks, const hocket_array* array, hocket_array* result,
                        const char* op, hocket_task_id root, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Given it = arguments(function, held->value, &array, 1,
                                   result != nullptr ? &result : nullptr, &op, timeout);
        held->value.reduce(it.array[0], it.results.empty() ? nullptr : it.results.data(), it.op,
                           id_of(root), it.deadline);
    });
}

int hocket_tasks_allreduce(hocket_tasks* tasks, const hocket_array* array, hocket_array* result,
                           const char* op, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Given it = arguments(function, held->value, &array, 1, &result, &op, timeout);
        held->value.allreduce(it.array[0], it.results[0], it.op, it.deadline);
    });
}

int hocket_tasks_gather(hocket_tasks* tasks, const hocket_array* array, int64_t count,
                        hocket_array* const* results, hocket_task_id root, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        const Given it = arguments(function, held->value, &array, count, results, nullptr, timeout);
        held->value.gather(it.array[0], it.results, id_of(root), it.deadline);
    });
}

int hocket_tasks_barrier(hocket_tasks* tasks, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(tasks);
        held->value.barrier(
            arguments(function, held->value, nullptr, 0, nullptr, nullptr, timeout).deadline);
    });
}
