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

namespace {

// An inbox is a word, which is `in_use` until its owner leaves it, and a ring for each process.
constexpr std::uint64_t in_use = 0x686f636b6574;
constexpr std::size_t word_bytes = 128;

std::atomic<std::uint64_t>& word_of(std::byte* inbox) {
    return *std::launder(reinterpret_cast<std::atomic<std::uint64_t>*>(inbox));
}

}  // namespace

RingBuffer* Inbox::rings_in(std::byte* inbox) {
    static_assert(alignof(RingBuffer) == word_bytes);
    return std::launder(reinterpret_cast<RingBuffer*>(inbox + word_bytes));
}

Inbox::Inbox(std::size_t processes, std::size_t me) : me_(me), ended_(processes) {
    free_unused();
    const std::size_t used = word_bytes + processes * sizeof(RingBuffer);
    std::size_t bytes = used + alignof(RingBuffer);
    memory_ = allocate(static_cast<std::int64_t>(bytes));
    void* at = memory_.get();
    inbox_ = static_cast<std::byte*>(std::align(alignof(RingBuffer), used, at, bytes));
    for (std::size_t i = 0; i < processes; ++i)
        queues_.emplace_back(new (inbox_ + word_bytes + i * sizeof(RingBuffer)) RingBuffer);
    new (inbox_) std::atomic<std::uint64_t>(in_use);
    address_ = shared_address_of(inbox_);
}

Inbox::~Inbox() {
    for (auto& queue : queues_) queue.detach();
    free_when([memory = std::move(memory_), inbox = inbox_, processes = queues_.size()] {
        if (!unused(inbox, processes)) return false;
        word_of(inbox).store(0, std::memory_order_release);
        return true;
    });
}

bool Inbox::unused(std::byte* inbox, std::size_t processes) {
    const RingBuffer* const rings = rings_in(inbox);
    return std::all_of(rings, rings + processes,
                       [](const RingBuffer& ring) { return ring.unused(); });
}

bool Inbox::reachable(const SharedAddress& address) {
    const auto there = map(address);
    return there != nullptr && word_of(there.get()).load(std::memory_order_acquire) == in_use;
}

bool Inbox::open(std::size_t from) {
    MessageQueue& queue = queues_[from];
    if (queue.reads()) return true;
    const auto memory = reachable(addresses_[from]) ? map(addresses_[from]) : nullptr;
    if (memory == nullptr) return false;
    queue.read_from({memory, rings_in(memory.get()) + me_});
    return true;
}

std::uint64_t Inbox::send(std::size_t to, std::uint64_t number, const std::string& text) {
    const std::uint64_t sent = queues_[to].send(number, text);
    unsent_ = unsent_ || !queues_[to].delivered(sent);
    return sent;
}

bool Inbox::delivered(std::size_t to, std::uint64_t sent) {
    return queues_[to].delivered(sent);
}

void Inbox::flush() {
    if (!unsent_) return;
    unsent_ = false;
    for (MessageQueue& queue : queues_) unsent_ = !queue.all_delivered() || unsent_;
}

std::optional<std::string> Inbox::receive(std::size_t from, std::uint64_t number) {
    if (!open(from))
        throw Error("the memory of process " + std::to_string(addresses_[from].process) +
                    " of this node could be mapped before, but not now (" + std::strerror(errno) +
                    "); allow this process more open files or maps");
    return queues_[from].receive(number);
}

std::optional<std::pair<std::size_t, std::string>> Inbox::receive_any(std::uint64_t number) {
    for (std::size_t from = 0; from < queues_.size(); ++from) {
        if (ended_[from]) continue;
        errno = 0;
        ended_[from] = !open(from) && errno != EMFILE && errno != ENFILE && errno != ENOMEM;
        if (ended_[from]) continue;
        if (auto text = receive(from, number)) return std::pair{from, std::move(*text)};
    }
    return std::nullopt;
}

}  // namespace hocket::shm
