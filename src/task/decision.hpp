// SPDX-License-Identifier: BSD-3-Clause
// Decisions of a task: all of its processes take the answer of its lowest process.
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

/// A call in which the lowest process chooses for the whole task.
struct Choice {
    const char* name;        // of the call, for errors
    std::int64_t among = 0;  // the number of choices
    /// hocket calls it on the lowest process until it returns a choice.
    std::function<std::optional<std::int64_t>()> find;
    std::function<std::string()> text;  // the awaited event
    comm::Fault fault;                  // the error of this process's arguments
};

/// Returns the lowest process's choice on every process. If that process has an error, all raise
/// it. Another process with an error raises it alone, after it has taken part, so that later calls
/// of the task still match.
/// @throws Error; MismatchError if the lowest process chooses among another number; DeadlineError
///         on every process at the lowest one's deadline, and on this process at its own.
std::int64_t choose(const Me& me, Choice choice, Deadline deadline);

}  // namespace hocket::task
