// SPDX-License-Identifier: BSD-3-Clause
// The shared memory of a team. Each process owns one arena, which the other processes of its node
// map. In its arena a process publishes flags to each of them, and, once, a notice of its
// departure.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "shm/flag.hpp"
#include "shm/flag_stream.hpp"
#include "shm/mapping.hpp"

namespace hocket::team {

/// The state of a process.
enum class MemberState : std::uint32_t { here, left, ended_all, broken };

/// A notice of departure, which a process publishes once. Longer words are truncated.
struct DepartureNotice {
    std::atomic<std::uint32_t> state{0};
    std::array<char, 700> words{};

    void publish(MemberState now, const std::string& text);
    MemberState read(std::string& text) const;
    MemberState read() const {
        return static_cast<MemberState>(state.load(std::memory_order_acquire));
    }
};

/// One per other process of the node.
struct PeerSlot {
    shm::Flag flag;                                   // from the owner to that process
    shm::StreamMemory stream;                         // to and from that process
    alignas(128) std::atomic<std::uint32_t> left{0};  // that process does not access this arena any
                                                      // more
};

/// The arena of one process.
class Arena {
  public:
    /// @throws Error if there is not enough memory.
    explicit Arena(std::size_t slots);
    PeerSlot& slot(std::size_t member) { return slots_[member]; }
    DepartureNotice& notice() { return *notice_; }
    const shm::SharedAddress& member() const { return address_; }

    /// Maps another process's arena, whose address came by message. @throws Error if that fails.
    static Arena mapped(const shm::SharedAddress& member, std::size_t slots);

    /// Called at the end of the owner: frees the memory once no other process accesses it any more.
    /// `me`: the owner's own slot.
    static void free_when_unused(std::unique_ptr<Arena> arena, std::size_t me);

  private:
    Arena() = default;
    void lay_out(std::byte* at);
    bool unused(std::size_t me) const;
    std::shared_ptr<std::byte> memory_;
    shm::SharedAddress address_{};
    DepartureNotice* notice_ = nullptr;
    PeerSlot* slots_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace hocket::team
