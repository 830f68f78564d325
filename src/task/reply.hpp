// SPDX-License-Identifier: BSD-3-Clause
// What two tasks tell each other of a message, and how they speak of it to people.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/trace.hpp"
#include "comm/agree.hpp"
#include "hocket/task.hpp"
#include "task/matcher.hpp"

namespace hocket::task {

/// What the lowest processes of the two tasks tell each other, and then their tasks: is all well,
/// and what does the other side have?
struct Reply {
    comm::Fault fault;
    Envelope other;
    RequestedOptions negotiated = {};  // of both sides, with nothing left open

    std::string packed() const;
    static Reply unpacked(const std::string& bytes);
};

std::string task_text(const Tasks::State& all, int task);  // -1: any
std::string tag_text(int tag);                             // -1: any
std::string array_text(const std::string& dtype, const Shape& shape);
std::string array_text(std::size_t arrays);  // other than one

/// The track of a send or a receive.
struct Partner {
    const char* direction;  // "to", "from"
    const Tasks::State& all;
    int task, tag;  // -1: any
};
trace::Track track_of(const char* verb, const Partner& partner, std::span<const Array> arrays);

/// Why there is no message, in the receiver's words.
comm::Fault fault_of_sender(const Tasks::State& all, const Envelope& envelope);

/// What keeps the receiver's arrays from taking the message, in words that name both sides. A type
/// that is not known yet fits any.
comm::Fault mismatch(const Tasks::State& all, const Envelope& sent, int receiver,
                     const std::vector<ArrayDescriptor>& wanted, int wanted_tag);

}  // namespace hocket::task
