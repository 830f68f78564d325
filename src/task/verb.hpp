// SPDX-License-Identifier: BSD-3-Clause
// The verbs of tasks.
#pragma once

#include <string_view>

#include "hocket/task.hpp"

namespace hocket::task {

struct Verb {
    const char* name;
    bool sends, receives;
    bool waits;  // blocks until the other task has acted: impossible for a process in both
    bool prepares = false;
};

// All verbs; "collective" stands for bcast, reduce, allreduce, gather and barrier.
inline constexpr Verb verbs[] = {
    {"send", true, false, true},
    {"recv", false, true, true},
    {"isend", true, false, false},
    {"irecv", false, true, false},
    {"sendrecv", true, true, false},
    {"probe", false, false, true},
    {"iprobe", false, false, false},
    {"send_init", true, false, false, true},
    {"recv_init", false, true, false, true},
    {"collective", false, false, true},
};

constexpr const Verb* find_verb(std::string_view name) {
    for (const Verb& verb : verbs)
        if (name == verb.name) return &verb;
    return nullptr;
}
consteval const Verb& the_verb(std::string_view name) {
    return *find_verb(name);
}

}  // namespace hocket::task
