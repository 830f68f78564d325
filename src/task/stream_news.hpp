// SPDX-License-Identifier: BSD-3-Clause
// News of channels with kept frames: short texts between the lowest processes of two tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "task/member.hpp"

namespace hocket::task {

constexpr char position_of = 'p', acknowledgement_of = 'a';

Protocol<> send_news(All all, Me me, int other, char kind, std::string stream, std::int64_t number);

/// The number that a call waits for, once the news has it. It outlives a wait that is interrupted,
/// so it refers to nothing of its caller.
using NumberInNews = std::function<std::optional<std::int64_t>(const StreamNews&)>;
/// The number that the lowest process finds in that task's news, on every process of the task.
/// @throws DeadlineError; JobLostError, on every process.
Protocol<> find_number(All all, Me me, int other, std::string stream, NumberInNews number, int tag,
                       Deadline deadline, std::shared_ptr<std::int64_t> out);

}  // namespace hocket::task
