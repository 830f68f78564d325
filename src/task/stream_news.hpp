// SPDX-License-Identifier: BSD-3-Clause
// News of channels: short texts between the lowest processes of two tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "task/member.hpp"

namespace hocket::task {

constexpr char position_of = 'p', acknowledgement_of = 'a', refusal_of = 'r';

/// The streams of a channel of that name.
std::string plain_stream(const std::string& name);
std::string kept_stream(const std::string& name);

/// `detail`: of a position, the channel's number in its stream; of a refusal, the number of the
/// send that its task has given up, or -1.
Protocol<> send_news(All all, Me me, int other, char kind, std::string stream, std::int64_t number,
                     std::int64_t detail = 0);
/// On the lowest process, after `fault_in_kind`: the next channels of this name are apart from this
/// one, and the other task learns of the error, unless it is the one that announces its channels.
Protocol<> refuse_kind(All all, Me me, int other, std::string stream, std::int64_t channel,
                       std::int64_t send);

/// The number that a call waits for, once the news has it. It outlives a wait that is interrupted,
/// so it refers to nothing of its caller.
using NumberInNews = std::function<std::optional<std::int64_t>(const StreamNews&)>;
/// The number that the lowest process finds in that task's news, on every process of the task.
/// `channel`: its number in its stream.
/// @throws DeadlineError; MismatchError, JobLostError, on every process.
Protocol<> find_number(All all, Me me, int other, std::string stream, std::int64_t channel,
                       NumberInNews number, int tag, Deadline deadline,
                       std::shared_ptr<std::int64_t> out);

/// As `find_number`; waits.
std::int64_t await_number(const All& all, const Me& me, int other, const std::string& stream,
                          std::int64_t channel, NumberInNews number, const std::string& text,
                          const Deadline& deadline);
/// The lowest process sends news in the background.
void announce(const All& all, const Me& me, int other, char kind, const std::string& stream,
              std::int64_t number, std::int64_t detail = 0);

/// All processes of the task get the error of one of them, and so repeat or end together.
void agree_on(const Me& me, const std::string& stream, const std::function<void()>& work);
/// A whole copy, for a frame that is sent later.
Array copy_of(const Array& array);

}  // namespace hocket::task
