// SPDX-License-Identifier: BSD-3-Clause
// The memory that the processes of a team share: each has a piece of its own, which the others of
// its node map. There it says things to each of them, and, once, how it left.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "shm/flag.hpp"
#include "shm/mapping.hpp"

namespace hocket::team {

/// How a process is.
enum class MemberState : std::uint32_t { here, left, ended_all, broken };

/// Where a process says, once, that it is not here any more. Words beyond the room are cut.
struct DepartureNotice {
    std::atomic<std::uint32_t> state{0};
    std::array<char, 700> words{};

    void publish(MemberState now, const std::string& text);
    MemberState read(std::string& text) const;
    MemberState read() const {
        return static_cast<MemberState>(state.load(std::memory_order_acquire));
    }
};

/// What a process has for each of its node.
struct PeerSlot {
    shm::Flag flag;                                   // the owner to that process
    alignas(128) std::atomic<std::uint32_t> left{0};  // that process will not look here any more
};

/// A process's own piece.
class Arena {
  public:
    /// @throws Error where memory is not to be had.
    explicit Arena(std::size_t slots);
    PeerSlot& slot(std::size_t member) { return slots_[member]; }
    DepartureNotice& notice() { return *notice_; }
    const shm::SharedAddress& member() const { return address_; }

    /// Another's, whose place came by message. @throws Error where it cannot be mapped.
    static Arena mapped(const shm::SharedAddress& member, std::size_t slots);

    /// The owner's, when it goes: the memory stays until all others will not look there any more
    /// (`me`: its own seat).
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
