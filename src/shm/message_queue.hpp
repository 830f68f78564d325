// SPDX-License-Identifier: BSD-3-Clause
// Texts that two processes of a node tell each other, each with a number by which it is asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shm/ring_buffer.hpp"

namespace hocket::shm {

/// This process's side of it. Texts go out in the order in which they are sent, and are taken in
/// any.
class MessageQueue {
  public:
    MessageQueue() = default;
    MessageQueue(RingBuffer* out, RingBuffer* in) : out_(out), in_(in) {}

    /// Where texts come from, if it was not known at first; before any is asked for.
    void read_from(RingBuffer* in) { in_ = in; }

    /// Gives what `delivered` wants to know.
    std::uint64_t send(std::uint64_t number, const std::string& text);
    /// Whether all of it lies where the other process finds it, whatever becomes of this one.
    bool delivered(std::uint64_t sent);
    bool all_delivered() { return delivered(sent_); }
    /// The next text of that number that has come.
    std::optional<std::string> receive(std::uint64_t number);

  private:
    void flush();
    void fetch();
    RingBuffer* out_ = nullptr;
    RingBuffer* in_ = nullptr;
    std::vector<std::uint64_t> outgoing_, incoming_;      // words of texts, each behind its heading
    std::uint64_t sent_ = 0, delivered_ = 0, read_ = 0;   // words
    std::size_t put_ = 0;                                 // of `outgoing_`, at its front
    std::multimap<std::uint64_t, std::string> received_;  // those of a number in their order
};

}  // namespace hocket::shm
