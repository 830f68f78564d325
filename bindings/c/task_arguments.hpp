// SPDX-License-Identifier: BSD-3-Clause
// Arguments of verbs. If this process has wrong arguments, all processes of the task get the error.
#pragma once

#include "handles.hpp"
#include "hocket/task.hpp"

namespace hocket::c {

inline TaskId id_of(const hocket_task_id& id) {
    if (id.name != nullptr) return std::string(id.name);
    return id.index;
}

inline void give_status(hocket_status** place, Status found) {
    if (place != nullptr) give(place, std::move(found));
}

/// @throws ArgumentError unless all are 0: the options have a later version, or are uninitialised.
template <std::size_t n>
void require_no_reserved(const std::int64_t (&reserved)[n]) {
    for (const auto field : reserved)
        if (field != 0)
            throw ArgumentError(
                "a reserved field of 'options' is not 0; initialise the struct with {0}, and the "
                "fields that this version has");
}

/// `Handle`: const if the verb only reads the arrays.
template <class Handle>
std::vector<Array> arrays_of(std::int64_t count, Handle* const* arrays, const char* name) {
    std::vector<Array> out;
    for (const auto* array : list(count, arrays, name)) out.push_back(behind(array)->value);
    return out;
}

/// Runs `read`, which reads a verb's arguments.
template <class Read>
auto arguments_of_verb(const char* function, Tasks& tasks, const char* verb, Read read) {
    return arguments_of(function, read, [&](const std::string& message) {
        Binding::refuse(tasks, verb, argument_error, message);
    });
}

/// As `arguments_of_verb`, of a persistent request: the other task gets the error, too.
template <class Read>
auto arguments_of_init(const char* function, Tasks& tasks, bool sending, const TaskId& other,
                       int tag, Read read) {
    return arguments_of(function, read, [&](const std::string& message) {
        Binding::refuse_init(tasks, sending, other, tag, argument_error, message);
    });
}

}  // namespace hocket::c
