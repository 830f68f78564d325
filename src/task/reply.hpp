// SPDX-License-Identifier: BSD-3-Clause
// Replies, which two tasks exchange about a message, and the texts of their error messages.
#pragma once

#include <optional>
#include <string>

#include "comm/agree.hpp"
#include "hocket/task.hpp"
#include "task/matcher.hpp"

namespace hocket::task {

/// The lowest processes of the two tasks exchange replies, and broadcast them. A reply is an
/// envelope: with a fault, or with the other side's descriptors and the negotiated options.
/// `known`: layouts that the receiver has offered.
std::string packed_reply(const Envelope& reply, KnownLayouts known = {});
Envelope unpacked_reply(const std::string& bytes, KnownLayouts known = {});
Envelope refusal(comm::Fault fault);

std::string task_text(const Tasks::State& all, int task);    // -1: any
std::string tag_text(int tag);                               // -1: any
std::string match_text(const std::string& stream, int tag);  // "with tag 5", "on channel 'c'"
std::string array_text(const std::string& dtype, const Shape& shape);
std::string array_text(std::size_t arrays);  // other than one

/// The error for the receiver if there is no message.
comm::Fault fault_of_sender(const Tasks::State& all, const Envelope& envelope);

/// The error if a layout from another task has more processes than that task.
comm::Fault fault_in_sizes(const Tasks::State& all, int task,
                           const std::vector<ArrayDescriptor>& descriptors);

/// The error if the receiver's arrays do not match the message; names both sides. An unknown type
/// matches any.
comm::Fault mismatch(const Tasks::State& all, const Envelope& sent, int receiver,
                     const std::vector<ArrayDescriptor>& wanted, int wanted_tag);

/// The reply to a message: the same on both sides, if the sender has the receive's description,
/// too. Sets the error and the negotiated options of the message.
Envelope reply_to(const Tasks::State& all, Envelope& sent, const Envelope& receive);

}  // namespace hocket::task
