// SPDX-License-Identifier: BSD-3-Clause
// A task speaks with one voice: what its lowest process finds counts on all of its processes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "comm/agree.hpp"
#include "hocket/operation.hpp"
#include "task/member.hpp"

namespace hocket::task {

/// A call in which the lowest process chooses for all of the task.
struct Choice {
    const char* name;        // of the call, for errors
    std::int64_t among = 0;  // how many there are to choose from
    /// Asked on the lowest process, again and again until it gives one.
    std::function<std::optional<std::int64_t>()> find;
    std::function<std::string()> text;  // what is waited for
    comm::Fault fault;                  // what is wrong on this process
};

/// The lowest process's choice, on every process. Where something is wrong on that process, all
/// raise it; where it is on another one, that one does, having taken part: later calls of the task
/// meet as they should.
/// @throws Error; MismatchError where the lowest process chose among another number; DeadlineError
/// on every process when the lowest one's deadline passes, and where nothing is heard of it within
/// this process's.
std::int64_t choose(const Me& me, Choice choice, Deadline deadline);

}  // namespace hocket::task
