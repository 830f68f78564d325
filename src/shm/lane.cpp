// SPDX-License-Identifier: BSD-3-Clause
#include "shm/lane.hpp"

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "shm/sharing.hpp"

namespace hocket::shm {
namespace {

struct Pool {
    std::mutex mutex;
    std::vector<std::unique_ptr<LaneEnd>> free, abandoned;
};
Pool& pool() {
    static Pool* const made = new Pool;  // outlives every transfer
    return *made;
}

std::unique_ptr<LaneEnd> make_lane() {
    auto end = std::make_unique<LaneEnd>();
    void* at = nullptr;
    std::size_t room = sizeof(Lane) + alignof(Lane);
    end->memory = allocate_shared(static_cast<std::int64_t>(room));
    at = end->memory.get();
    at = std::align(alignof(Lane), sizeof(Lane), at, room);
    end->lane = new (at) Lane;
    end->place = place_of(at);
    return end;
}

}  // namespace

void Lane::break_off(std::uint64_t use, std::string_view why) {
    std::uint64_t before = state.load(std::memory_order_acquire);
    do {
        if (before >> 2U >= use) return;
    } while (!state.compare_exchange_weak(before, stage(use, being_broken)));
    words[why.substr(0, words.size() - 1).copy(words.data(), words.size() - 1)] = '\0';
    std::uint64_t mine = stage(use, being_broken);  // unless a later use is broken meanwhile
    state.compare_exchange_strong(mine, stage(use, is_broken), std::memory_order_release);
}

std::byte* LaneEnd::ring_of(std::int64_t bytes) {
    if (ring_bytes < bytes) {
        ring = allocate_shared(bytes);
        ring_bytes = bytes;
    }
    return ring.get();
}

void LaneEnd::drop_ring() {
    ring.reset();
    ring_bytes = 0;
}

std::unique_ptr<LaneEnd> take_lane() {
    {
        const std::lock_guard lock(pool().mutex);
        auto& free = pool().free;
        if (!free.empty()) {
            auto end = std::move(free.back());
            free.pop_back();
            ++end->progress.use;
            return end;
        }
    }
    auto end = make_lane();
    ++end->progress.use;
    return end;
}

void give_back(std::unique_ptr<LaneEnd> end) {
    const std::lock_guard lock(pool().mutex);
    pool().free.push_back(std::move(end));
}

void abandon(std::unique_ptr<LaneEnd> end) {
    const std::lock_guard lock(pool().mutex);
    pool().abandoned.push_back(std::move(end));
}

}  // namespace hocket::shm
