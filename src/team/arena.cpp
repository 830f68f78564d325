// SPDX-License-Identifier: BSD-3-Clause
#include "team/arena.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "hocket/error.hpp"
#include "hocket/memory.hpp"
#include "shm/retiring.hpp"

namespace hocket::team {
namespace {

constexpr std::size_t board_room = (sizeof(Board) + 127) / 128 * 128;

}  // namespace

void Board::say(Standing now, const std::string& text) {
    const std::size_t length = std::min(text.size(), words.size() - 1);
    std::memcpy(words.data(), text.data(), length);
    words[length] = '\0';
    standing.store(static_cast<std::uint32_t>(now), std::memory_order_release);
}

Standing Board::read(std::string& text) const {
    const Standing now = read();
    if (now != Standing::here) text = words.data();
    return now;
}

Arena::Arena(std::size_t seats) : count_(seats) {
    shm::sweep();
    const std::size_t bytes = 128 + board_room + seats * sizeof(Seat);
    memory_ = allocate(static_cast<std::int64_t>(bytes));
    void* at = memory_.get();
    std::size_t room = bytes;
    std::align(128, board_room + seats * sizeof(Seat), at, room);
    lay_out(static_cast<std::byte*>(at));
    new (board_) Board;
    for (std::size_t i = 0; i < seats; ++i) new (seats_ + i) Seat;
    place_ = shm::place_of(at);
}

void Arena::lay_out(std::byte* at) {
    board_ = reinterpret_cast<Board*>(at);
    seats_ = reinterpret_cast<Seat*>(at + board_room);
}

Arena Arena::mapped(const shm::Place& place, std::size_t seats) {
    Arena arena;
    arena.memory_ = shm::map(place);
    if (arena.memory_ == nullptr)
        throw Error("the memory of process id " + std::to_string(place.process) +
                    " cannot be mapped any more; has it ended?");
    arena.place_ = place;
    arena.count_ = seats;
    arena.lay_out(arena.memory_.get());
    return arena;
}

bool Arena::deserted(std::size_t me) const {
    for (std::size_t i = 0; i < count_; ++i)
        if (i != me && seats_[i].left.load(std::memory_order_acquire) == 0) return false;
    return true;
}

void Arena::retire(std::unique_ptr<Arena> arena, std::size_t me) {
    shm::retire(
        [left = std::shared_ptr<Arena>(std::move(arena)), me] { return left->deserted(me); });
}

}  // namespace hocket::team
