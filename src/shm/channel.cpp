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
std::vector<std::shared_ptr<Channel>>& free_channels() {
    static auto* const made = new std::vector<std::shared_ptr<Channel>>;  // outlives transfers
    return *made;
}

std::shared_ptr<Channel> make_channel() {
    std::size_t bytes = sizeof(Channel) + alignof(Channel);
    const auto memory = allocate_shared(static_cast<std::int64_t>(bytes));
    void* at = memory.get();
    at = std::align(alignof(Channel), sizeof(Channel), at, bytes);
    std::shared_ptr<Channel> channel(memory, new (at) Channel);
    channel->address = shared_address_of(at);
    return channel;
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

std::shared_ptr<Channel> acquire_channel() {
    {
        const std::lock_guard lock(mutex_of_free);
        auto& free = free_channels();
        if (!free.empty()) {
            auto channel = std::move(free.back());
            free.pop_back();
            return channel;
        }
    }
    return make_channel();
}

void release_channel(std::shared_ptr<Channel> channel, const ChannelCounters& counters) {
    channel->counters = counters;
    const std::lock_guard lock(mutex_of_free);
    free_channels().push_back(std::move(channel));
}

void abandon_channel(std::shared_ptr<Channel> channel, std::shared_ptr<std::byte> ring) {
    free_when([channel = std::move(channel), ring = std::move(ring)] { return false; });
}

}  // namespace hocket::shm
