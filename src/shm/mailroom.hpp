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

#include "shm/mail.hpp"
#include "shm/sharing.hpp"

namespace hocket::shm {

/// This process's end of it. Those of the group are numbered alike by all of them.
class Mailroom {
  public:
    /// Of a group of so many, of which this one is `me`. @throws Error where there is no memory.
    Mailroom(std::size_t processes, std::size_t me);
    /// The room stays for those who may still look there.
    ~Mailroom();
    Mailroom(const Mailroom&) = delete;
    Mailroom& operator=(const Mailroom&) = delete;

    /// Where the others find this process's room.
    const Place& place() const { return place_; }
    /// Whether there is a room at that place, and this process can map it.
    static bool reached(const Place& place);
    /// Where the others' are: before anything is sent or received.
    void know(std::vector<Place> places) { places_ = std::move(places); }

    /// Gives what `gone` wants to know.
    std::uint64_t send(std::size_t to, std::uint64_t number, const std::string& text);
    /// Whether that text lies where the other process finds it, whatever becomes of this one.
    /// Or nobody will look for it any more.
    bool gone(std::size_t to, std::uint64_t sent);
    /// Puts on its way what there was no room for; costs next to nothing where there is none.
    void push();
    /// Whether there is something that `push` is to see to.
    bool waiting() const { return waiting_; }
    /// The next text of that number that has come. @throws Error where the room of the sender
    /// cannot be mapped.
    std::optional<std::string> receive(std::size_t from, std::uint64_t number);
    /// Of whoever it comes from, and from whom; nothing comes from one that has ended.
    std::optional<std::pair<std::size_t, std::string>> receive_any(std::uint64_t number);

  private:
    struct Room;
    struct Slot;
    struct Box {
        std::shared_ptr<std::byte> memory;  // the other's room, once mapped
        Slot* theirs = nullptr;             // for this process, in it
        Mail mail;
        bool gone = false;  // the other process has ended
    };
    static Slot* slots_of(std::byte* room);
    static bool deserted(std::byte* room, std::size_t processes);
    bool open(std::size_t from);
    bool has_left(std::size_t reader) const;

    std::size_t me_;
    std::shared_ptr<std::byte> memory_;
    std::byte* room_ = nullptr;
    Place place_;
    std::vector<Place> places_;
    std::vector<Box> boxes_;
    bool waiting_ = false;  // something was sent that may not be gone
};

}  // namespace hocket::shm
