// SPDX-License-Identifier: BSD-3-Clause
// Mail between all processes of a group that share memory: each has a room of its own, with a post
// for each of the others, which they map when they first look for something there.
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

/// This process's end of it. Those of the group are numbered alike by all of them.
class Inbox {
  public:
    /// Of a group of so many, of which this one is `me`. @throws Error where there is no memory.
    Inbox(std::size_t processes, std::size_t me);
    /// The room stays for those who may still look there.
    ~Inbox();
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;

    /// Where the others find this process's room.
    const SharedAddress& address() const { return address_; }
    /// Whether there is a room at that place, and this process can map it.
    static bool reachable(const SharedAddress& address);
    /// Where the others' are: before anything is sent or received.
    void set_addresses(std::vector<SharedAddress> addresses) { addresses_ = std::move(addresses); }

    /// Gives what `delivered` wants to know.
    std::uint64_t send(std::size_t to, std::uint64_t number, const std::string& text);
    /// Whether that text lies where the other process finds it, whatever becomes of this one.
    /// Or nobody will look for it any more.
    bool delivered(std::size_t to, std::uint64_t sent);
    /// Puts on its way what there was no room for; costs next to nothing where there is none.
    void flush();
    /// Whether there is something that `flush` is to see to.
    bool unsent() const { return unsent_; }
    /// The next text of that number that has come. @throws Error where the room of the sender
    /// cannot be mapped.
    std::optional<std::string> receive(std::size_t from, std::uint64_t number);
    /// Of whoever it comes from, and from whom; nothing comes from one that has ended.
    std::optional<std::pair<std::size_t, std::string>> receive_any(std::uint64_t number);

  private:
    struct Header;
    struct Slot;
    struct PeerQueue {
        std::shared_ptr<std::byte> memory;  // the other's room, once mapped
        Slot* theirs = nullptr;             // for this process, in it
        MessageQueue queue;
        bool ended = false;  // the other process has ended
    };
    static Slot* slots_in(std::byte* room);
    static bool unused(std::byte* room, std::size_t processes);
    bool open(std::size_t from);
    bool has_detached(std::size_t reader) const;

    std::size_t me_;
    std::shared_ptr<std::byte> memory_;
    std::byte* header_ = nullptr;
    SharedAddress address_;
    std::vector<SharedAddress> addresses_;
    std::vector<PeerQueue> queues_;
    bool unsent_ = false;  // something was sent that may not be gone
};

}  // namespace hocket::shm
