// SPDX-License-Identifier: BSD-3-Clause
// Texts between two processes of a node. The receiver asks for a text by its number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shm/ring_buffer.hpp"

namespace hocket::shm {

/// This process's side. Texts leave in the order of the sends; the receiver takes them in any
/// order.
class MessageQueue {
  public:
    MessageQueue() = default;
    explicit MessageQueue(RingBuffer* out) : out_(out) {}

    /// Sets the buffer that texts come from. Call before the first `receive`.
    void read_from(std::shared_ptr<RingBuffer> in) {
        in_ = std::move(in);
        in_->attach();
    }
    bool reads() const { return in_ != nullptr; }
    /// Receives nothing more.
    void detach() {
        if (in_ != nullptr) in_->detach();
    }

    /// Returns the argument for `delivered`.
    std::uint64_t send(std::uint64_t number, const std::string& text);
    /// Whether the whole text is in the ring buffer, which outlives this process, or its reader has
    /// detached.
    bool delivered(std::uint64_t sent);
    bool all_delivered() { return delivered(sent_); }
    /// The next text with this number that has arrived.
    std::optional<std::string> receive(std::uint64_t number);

  private:
    void flush();
    void fetch();
    RingBuffer* out_ = nullptr;
    std::shared_ptr<RingBuffer> in_;                     // in memory of the other process
    std::vector<std::uint64_t> outgoing_;                // words for which the ring was full
    std::size_t put_ = 0;                                // of these, at the front
    std::uint64_t sent_ = 0, delivered_ = 0, read_ = 0;  // words
    // The text that is arriving: its header, its bytes, and the words of both that have arrived.
    std::array<std::uint64_t, 2> header_{};
    std::string text_;
    std::size_t arrived_ = 0;
    std::multimap<std::uint64_t, std::string> received_;  // those of a number in their order
};

}  // namespace hocket::shm
