// SPDX-License-Identifier: BSD-3-Clause
#include "shm/mailroom.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "hocket/error.hpp"
#include "hocket/memory.hpp"
#include "shm/retiring.hpp"

namespace hocket::shm {

struct Mailroom::Room {
    static constexpr std::uint64_t open = 0x686f636b6574;
    alignas(128) std::atomic<std::uint64_t> word{open};  // until its owner leaves it
};

struct Mailroom::Slot {
    enum : std::uint32_t { never, reads, left };
    Post post;                                              // from the owner
    alignas(128) std::atomic<std::uint32_t> reader{never};  // whether the other process looks at it
};

Mailroom::Slot* Mailroom::slots_of(std::byte* room) {
    return std::launder(reinterpret_cast<Slot*>(room + sizeof(Room)));
}

Mailroom::Mailroom(std::size_t processes, std::size_t me) : me_(me), boxes_(processes) {
    sweep();
    std::size_t room = sizeof(Room) + processes * sizeof(Slot) + alignof(Room);
    memory_ = allocate(static_cast<std::int64_t>(room));
    void* at = memory_.get();
    room_ = static_cast<std::byte*>(std::align(alignof(Room), sizeof(Room), at, room));
    for (std::size_t i = 0; i < processes; ++i) new (room_ + sizeof(Room) + i * sizeof(Slot)) Slot;
    new (room_) Room;
    place_ = place_of(room_);
    for (std::size_t i = 0; i < processes; ++i)
        boxes_[i].mail = {&slots_of(room_)[i].post, nullptr};
}

Mailroom::~Mailroom() {
    for (auto& box : boxes_)
        if (box.theirs != nullptr) box.theirs->reader.store(Slot::left, std::memory_order_release);
    retire([memory = std::move(memory_), room = room_, processes = boxes_.size()] {
        if (!deserted(room, processes)) return false;
        std::launder(reinterpret_cast<Room*>(room))->word.store(0, std::memory_order_release);
        return true;
    });
}

bool Mailroom::deserted(std::byte* room, std::size_t processes) {
    const Slot* const slots = slots_of(room);
    return std::all_of(slots, slots + processes, [](const Slot& slot) {
        const auto reader = slot.reader.load(std::memory_order_acquire);
        return reader == Slot::left || (reader == Slot::never && slot.post.empty());
    });
}

bool Mailroom::reached(const Place& place) {
    const auto there = map(place);
    return there != nullptr && std::launder(reinterpret_cast<const Room*>(there.get()))
                                       ->word.load(std::memory_order_acquire) == Room::open;
}

bool Mailroom::open(std::size_t from) {
    Box& box = boxes_[from];
    if (box.theirs != nullptr) return true;
    box.memory = reached(places_[from]) ? map(places_[from]) : nullptr;
    if (box.memory == nullptr) return false;
    box.theirs = slots_of(box.memory.get()) + me_;
    box.theirs->reader.store(Slot::reads, std::memory_order_release);
    box.mail.read_from(&box.theirs->post);
    return true;
}

std::uint64_t Mailroom::send(std::size_t to, std::uint64_t number, const std::string& text) {
    const std::uint64_t sent = boxes_[to].mail.send(number, text);
    waiting_ = waiting_ || !boxes_[to].mail.gone(sent);
    return sent;
}

bool Mailroom::has_left(std::size_t reader) const {
    return slots_of(room_)[reader].reader.load(std::memory_order_acquire) == Slot::left;
}

bool Mailroom::gone(std::size_t to, std::uint64_t sent) {
    return boxes_[to].mail.gone(sent) || has_left(to);
}

void Mailroom::push() {
    if (!waiting_) return;
    waiting_ = false;
    for (std::size_t to = 0; to < boxes_.size(); ++to)
        waiting_ = !(boxes_[to].mail.all_gone() || has_left(to)) || waiting_;
}

std::optional<std::string> Mailroom::receive(std::size_t from, std::uint64_t number) {
    if (!open(from))
        throw Error("the memory of process " + std::to_string(places_[from].process) +
                    " of this node could be mapped before, but not now (" + std::strerror(errno) +
                    "); allow this process more open files or maps");
    return boxes_[from].mail.receive(number);
}

std::optional<std::pair<std::size_t, std::string>> Mailroom::receive_any(std::uint64_t number) {
    for (std::size_t from = 0; from < boxes_.size(); ++from) {
        Box& box = boxes_[from];
        if (box.gone) continue;
        errno = 0;
        box.gone = !open(from) && errno != EMFILE && errno != ENFILE && errno != ENOMEM;
        if (box.gone) continue;
        if (auto text = receive(from, number)) return std::pair{from, std::move(*text)};
    }
    return std::nullopt;
}

}  // namespace hocket::shm
