// SPDX-License-Identifier: BSD-3-Clause
#include "shm/channel.hpp"

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "shm/deferred_free.hpp"
#include "shm/mapping.hpp"

namespace hocket::shm {
namespace {

std::mutex mutex_of_free;
std::vector<std::unique_ptr<ChannelEnd>>& free_channels() {
    static auto* const made = new std::vector<std::unique_ptr<ChannelEnd>>;  // outlives transfers
    return *made;
}

std::unique_ptr<ChannelEnd> make_channel() {
    auto end = std::make_unique<ChannelEnd>();
    void* at = nullptr;
    std::size_t bytes = sizeof(Channel) + alignof(Channel);
    end->memory = allocate_shared(static_cast<std::int64_t>(bytes));
    at = end->memory.get();
    at = std::align(alignof(Channel), sizeof(Channel), at, bytes);
    end->channel = new (at) Channel;
    end->address = shared_address_of(at);
    return end;
}

}  // namespace

void Channel::abort_use(std::uint64_t use, std::string_view why) {
    std::uint64_t before = state.load(std::memory_order_acquire);
    do {
        if (before >> 2U >= use) return;
    } while (!state.compare_exchange_weak(before, stage(use, being_aborted)));
    words[why.substr(0, words.size() - 1).copy(words.data(), words.size() - 1)] = '\0';
    std::uint64_t mine = stage(use, being_aborted);  // unless a later use was aborted meanwhile
    state.compare_exchange_strong(mine, stage(use, is_aborted), std::memory_order_release);
}

std::byte* ChannelEnd::ring_for(std::int64_t bytes) {
    if (ring_bytes < bytes) {
        ring = allocate_shared(bytes);
        ring_bytes = bytes;
    }
    return ring.get();
}

void ChannelEnd::release_ring() {
    ring.reset();
    ring_bytes = 0;
}

std::unique_ptr<ChannelEnd> acquire_channel() {
    {
        const std::lock_guard lock(mutex_of_free);
        auto& free = free_channels();
        if (!free.empty()) {
            auto end = std::move(free.back());
            free.pop_back();
            ++end->counters.use;
            return end;
        }
    }
    auto end = make_channel();
    ++end->counters.use;
    return end;
}

void release_channel(std::unique_ptr<ChannelEnd> end) {
    end->release_ring();
    const std::lock_guard lock(mutex_of_free);
    free_channels().push_back(std::move(end));
}

void abandon_channel(std::unique_ptr<ChannelEnd> end) {
    free_when([kept = std::shared_ptr<ChannelEnd>(std::move(end))] { return false; });
}

}  // namespace hocket::shm
