// SPDX-License-Identifier: BSD-3-Clause
#include "shm/inbox.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "hocket/error.hpp"
#include "hocket/memory.hpp"
#include "shm/deferred_free.hpp"

namespace hocket::shm {

struct Inbox::Slot {
    enum : std::uint32_t { never, reads, left };
    RingBuffer ring;                                        // from the owner
    alignas(128) std::atomic<std::uint32_t> reader{never};  // whether the other process reads it
};

namespace {

// An inbox is a word, which is `in_use` until its owner leaves it, and the slots.
constexpr std::uint64_t in_use = 0x686f636b6574;
constexpr std::size_t word_bytes = 128;

std::atomic<std::uint64_t>& word_of(std::byte* inbox) {
    return *std::launder(reinterpret_cast<std::atomic<std::uint64_t>*>(inbox));
}

}  // namespace

Inbox::Slot* Inbox::slots_in(std::byte* inbox) {
    static_assert(alignof(Slot) == word_bytes);
    return std::launder(reinterpret_cast<Slot*>(inbox + word_bytes));
}

Inbox::Inbox(std::size_t processes, std::size_t me) : me_(me), queues_(processes) {
    free_unused();
    const std::size_t used = word_bytes + processes * sizeof(Slot);
    std::size_t bytes = used + alignof(Slot);
    memory_ = allocate(static_cast<std::int64_t>(bytes));
    void* at = memory_.get();
    inbox_ = static_cast<std::byte*>(std::align(alignof(Slot), used, at, bytes));
    for (std::size_t i = 0; i < processes; ++i) new (inbox_ + word_bytes + i * sizeof(Slot)) Slot;
    new (inbox_) std::atomic<std::uint64_t>(in_use);
    address_ = shared_address_of(inbox_);
    for (std::size_t i = 0; i < processes; ++i)
        queues_[i].queue = {&slots_in(inbox_)[i].ring, nullptr};
}

Inbox::~Inbox() {
    for (auto& box : queues_)
        if (box.theirs != nullptr) box.theirs->reader.store(Slot::left, std::memory_order_release);
    free_when([memory = std::move(memory_), inbox = inbox_, processes = queues_.size()] {
        if (!unused(inbox, processes)) return false;
        word_of(inbox).store(0, std::memory_order_release);
        return true;
    });
}

bool Inbox::unused(std::byte* inbox, std::size_t processes) {
    const Slot* const slots = slots_in(inbox);
    return std::all_of(slots, slots + processes, [](const Slot& slot) {
        const auto reader = slot.reader.load(std::memory_order_acquire);
        return reader == Slot::left || (reader == Slot::never && slot.ring.empty());
    });
}

bool Inbox::reachable(const SharedAddress& address) {
    const auto there = map(address);
    return there != nullptr && word_of(there.get()).load(std::memory_order_acquire) == in_use;
}

bool Inbox::open(std::size_t from) {
    PeerQueue& box = queues_[from];
    if (box.theirs != nullptr) return true;
    box.memory = reachable(addresses_[from]) ? map(addresses_[from]) : nullptr;
    if (box.memory == nullptr) return false;
    box.theirs = slots_in(box.memory.get()) + me_;
    box.theirs->reader.store(Slot::reads, std::memory_order_release);
    box.queue.read_from(&box.theirs->ring);
    return true;
}

std::uint64_t Inbox::send(std::size_t to, std::uint64_t number, const std::string& text) {
    const std::uint64_t sent = queues_[to].queue.send(number, text);
    unsent_ = unsent_ || !queues_[to].queue.delivered(sent);
    return sent;
}

bool Inbox::has_detached(std::size_t reader) const {
    return slots_in(inbox_)[reader].reader.load(std::memory_order_acquire) == Slot::left;
}

bool Inbox::delivered(std::size_t to, std::uint64_t sent) {
    return queues_[to].queue.delivered(sent) || has_detached(to);
}

void Inbox::flush() {
    if (!unsent_) return;
    unsent_ = false;
    for (std::size_t to = 0; to < queues_.size(); ++to)
        unsent_ = !(queues_[to].queue.all_delivered() || has_detached(to)) || unsent_;
}

std::optional<std::string> Inbox::receive(std::size_t from, std::uint64_t number) {
    if (!open(from))
        throw Error("the memory of process " + std::to_string(addresses_[from].process) +
                    " of this node could be mapped before, but not now (" + std::strerror(errno) +
                    "); allow this process more open files or maps");
    return queues_[from].queue.receive(number);
}

std::optional<std::pair<std::size_t, std::string>> Inbox::receive_any(std::uint64_t number) {
    for (std::size_t from = 0; from < queues_.size(); ++from) {
        PeerQueue& box = queues_[from];
        if (box.ended) continue;
        errno = 0;
        box.ended = !open(from) && errno != EMFILE && errno != ENFILE && errno != ENOMEM;
        if (box.ended) continue;
        if (auto text = receive(from, number)) return std::pair{from, std::move(*text)};
    }
    return std::nullopt;
}

}  // namespace hocket::shm
