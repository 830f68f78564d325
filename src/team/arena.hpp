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

#include "shm/cell.hpp"
#include "shm/sharing.hpp"

namespace hocket::team {

/// How a process is.
enum class Standing : std::uint32_t { here, left, ended_all, broken };

/// Where a process says, once, that it is not here any more. Words beyond the room are cut.
struct Board {
    std::atomic<std::uint32_t> standing{0};
    std::array<char, 700> words{};

    void say(Standing now, const std::string& text);
    Standing read(std::string& text) const;
    Standing read() const {
        return static_cast<Standing>(standing.load(std::memory_order_acquire));
    }
};

/// What a process has for each of its node.
struct Seat {
    shm::Voice voice;                                 // the owner to that process
    alignas(128) std::atomic<std::uint32_t> left{0};  // that process will not look here any more
};

/// A process's own piece.
class Arena {
  public:
    /// @throws Error where memory is not to be had.
    explicit Arena(std::size_t seats);
    Seat& seat(std::size_t place) { return seats_[place]; }
    Board& board() { return *board_; }
    const shm::Place& place() const { return place_; }

    /// Another's, whose place came by message. @throws Error where it cannot be mapped.
    static Arena mapped(const shm::Place& place, std::size_t seats);

    /// The owner's, when it goes: the memory stays until all others will not look there any more
    /// (`me`: its own seat).
    static void retire(std::unique_ptr<Arena> arena, std::size_t me);

  private:
    Arena() = default;
    void lay_out(std::byte* at);
    bool deserted(std::size_t me) const;
    std::shared_ptr<std::byte> memory_;
    shm::Place place_{};
    Board* board_ = nullptr;
    Seat* seats_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace hocket::team
