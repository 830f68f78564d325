// SPDX-License-Identifier: BSD-3-Clause
// Message queues between all processes of a group that share memory. Each process owns an inbox
// memory with a ring buffer for each other process; a reader maps it at its first receive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shm/mapping.hpp"
#include "shm/message_queue.hpp"

namespace hocket::shm {

/// This process's end. All processes number the members of the group alike.
class Inbox {
  public:
    /// `me`: this process's number in the group. @throws Error if there is no memory.
    Inbox(std::size_t processes, std::size_t me);
    /// The memory stays until the readers have detached.
    ~Inbox();
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;

    /// The address of this process's inbox memory.
    const SharedAddress& address() const { return address_; }
    /// Whether this process can map the inbox memory at that address.
    static bool reachable(const SharedAddress& address);
    /// The addresses of the others' memories. Call before the first send or receive.
    void set_addresses(std::vector<SharedAddress> addresses) { addresses_ = std::move(addresses); }

    /// Returns the argument for `delivered`.
    std::uint64_t send(std::size_t to, std::uint64_t number, const std::string& text);
    /// Whether the text is in memory that outlives this process, or its reader has detached.
    bool delivered(std::size_t to, std::uint64_t sent);
    /// Writes texts that did not fit before. Cheap if there are none.
    void flush();
    /// Whether `flush` has texts to write.
    bool unsent() const { return unsent_; }
    /// The next text with this number that has arrived. @throws Error if the sender's memory cannot
    /// be mapped.
    std::optional<std::string> receive(std::size_t from, std::uint64_t number);
    /// The next text from any process, with the sender's number. Skips processes that have ended.
    std::optional<std::pair<std::size_t, std::string>> receive_any(std::uint64_t number);

  private:
    static RingBuffer* rings_in(std::byte* inbox);
    static bool unused(std::byte* inbox, std::size_t processes);
    bool open(std::size_t from);

    std::size_t me_;
    std::shared_ptr<std::byte> memory_;
    std::byte* inbox_ = nullptr;  // in the memory
    SharedAddress address_;
    std::vector<SharedAddress> addresses_;
    std::vector<MessageQueue> queues_;  // with each process
    std::vector<bool> ended_;           // processes that have ended
    bool unsent_ = false;               // some texts may not be delivered
};

}  // namespace hocket::shm
