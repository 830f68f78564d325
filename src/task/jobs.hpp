// SPDX-License-Identifier: BSD-3-Clause
// Jobs that have met, as tasks.
#pragma once

#include <memory>
#include <span>

#include "comm/closing.hpp"
#include "task/member.hpp"

namespace hocket::task {

/// Each job is a task, of a number of processes: job 0 has the first ranks of the link, job 1 the
/// next, and so on. `comm`: this process's job. `link`: comm/joining.hpp. Local; the tasks close
/// the link at their end.
std::shared_ptr<Tasks::State> tasks_of_jobs(std::span<const TaskRequest> jobs, const Comm& comm,
                                            comm::OwnedLink link);
/// As the program sees them.
Tasks handle_of(const std::shared_ptr<Tasks::State>& jobs);

}  // namespace hocket::task
