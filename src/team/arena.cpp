// SPDX-License-Identifier: BSD-3-Clause
#include "team/arena.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "hocket/error.hpp"
#include "hocket/memory.hpp"
#include "shm/deferred_free.hpp"

namespace hocket::team {
namespace {

constexpr std::size_t notice_bytes = (sizeof(DepartureNotice) + 127) / 128 * 128;

}  // namespace

void DepartureNotice::publish(MemberState now, const std::string& text) {
    const std::size_t length = std::min(text.size(), words.size() - 1);
    std::memcpy(words.data(), text.data(), length);
    words[length] = '\0';
    state.store(static_cast<std::uint32_t>(now), std::memory_order_release);
}

MemberState DepartureNotice::read(std::string& text) const {
    const MemberState now = read();
    if (now != MemberState::here) text = words.data();
    return now;
}

Arena::Arena(std::size_t slots) : count_(slots) {
    shm::free_unused();
    const std::size_t bytes = 128 + notice_bytes + slots * sizeof(PeerSlot);
    memory_ = allocate(static_cast<std::int64_t>(bytes));
    void* at = memory_.get();
    std::size_t room = bytes;
    std::align(128, notice_bytes + slots * sizeof(PeerSlot), at, room);
    lay_out(static_cast<std::byte*>(at));
    new (notice_) DepartureNotice;
    for (std::size_t i = 0; i < slots; ++i) new (slots_ + i) PeerSlot;
    address_ = shm::shared_address_of(at);
}

void Arena::lay_out(std::byte* at) {
    notice_ = reinterpret_cast<DepartureNotice*>(at);
    slots_ = reinterpret_cast<PeerSlot*>(at + notice_bytes);
}

Arena Arena::mapped(const shm::SharedAddress& member, std::size_t slots) {
    Arena arena;
    arena.memory_ = shm::map(member);
    if (arena.memory_ == nullptr)
        throw Error("the memory of process id " + std::to_string(member.process) +
                    " cannot be mapped any more; has it ended?");
    arena.address_ = member;
    arena.count_ = slots;
    arena.lay_out(arena.memory_.get());
    return arena;
}

bool Arena::unused(std::size_t me) const {
    for (std::size_t i = 0; i < count_; ++i)
        if (i != me && slots_[i].left.load(std::memory_order_acquire) == 0) return false;
    return true;
}

void Arena::free_when_unused(std::unique_ptr<Arena> arena, std::size_t me) {
    shm::free_when(
        [left = std::shared_ptr<Arena>(std::move(arena)), me] { return left->unused(me); });
}

}  // namespace hocket::team
