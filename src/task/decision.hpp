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

/// hocket calls it on the lowest process until it returns a choice.
using FindChoice = std::function<std::optional<std::int64_t>()>;

/// Returns the lowest process's choice, one of `among`, on every process. `name`: of the call, for
/// errors. `awaited`: describes the event. `fault`: the error of this process's arguments. If the
/// lowest process has an error, all raise it. Another process with an error raises it alone, after
/// it has taken part, so that later calls of the task still match.
/// @throws Error; MismatchError if the lowest process chooses among another number; DeadlineError
///         on every process at the lowest one's deadline, and on this process at its own.
std::int64_t choose(const Me& me, const char* name, std::int64_t among, FindChoice find,
                    std::function<std::string()> awaited, const Fault& fault, Deadline deadline);

}  // namespace hocket::task
