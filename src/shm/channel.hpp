// SPDX-License-Identifier: BSD-3-Clause
// A lane carries arrays from one process of a node to another: flags in shared memory, and no
// message. Its maker is the sender; the receiver maps it where it is told it lies.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "shm/flag.hpp"
#include "shm/mapping.hpp"

namespace hocket::shm {

/// What lies in shared memory. All counters only grow, so that a lane can serve one transfer after
/// another, and a reader that comes late never misses what it waits for.
struct Channel {
    Flag forward;                                         // sender to receiver
    Flag back;                                            // receiver to sender
    alignas(128) std::atomic<std::uint64_t> claimed{0};   // parts that someone has taken to copy
    alignas(128) std::atomic<std::uint64_t> finished{0};  // parts that are copied
    alignas(128) std::atomic<std::uint64_t> filled{0};    // slots of the ring, by the sender
    alignas(128) std::atomic<std::uint64_t> drained{0};   // likewise, by the receiver

    /// Takes one of the parts below `end` that nobody has; `end` itself if there is none.
    std::uint64_t claim(std::uint64_t end) {
        std::uint64_t next = claimed.load(std::memory_order_acquire);
        while (next < end &&
               !claimed.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel)) {
        }
        return next < end ? next : end;
    }
    /// From now on nobody takes any of the parts below `end`. Gives how many were taken.
    std::uint64_t close(std::uint64_t end) {
        std::uint64_t taken = claimed.load(std::memory_order_acquire);
        while (taken < end &&
               !claimed.compare_exchange_weak(taken, taken | closed, std::memory_order_acq_rel)) {
        }
        return std::min(taken & ~closed, end);
    }
    void finish() { finished.fetch_add(1, std::memory_order_acq_rel); }
    bool all_finished(std::uint64_t end) const {
        return finished.load(std::memory_order_acquire) >= end;
    }

    // In place of a message the sender refuses it, by the number of its start. Two entries do,
    // because it makes its next start only once the receiver has begun this one.
    std::array<std::atomic<std::uint64_t>, 2> refusals{};
    void refuse(std::uint64_t start) {
        refusals[start & 1].store(start, std::memory_order_release);
    }
    bool refused(std::uint64_t start) const {
        return refusals[start & 1].load(std::memory_order_acquire) == start;
    }

    // Either end says once, and the first one's words stay, that it will not go on with a use of
    // the lane: whoever comes late with that breaks no other use.
    static constexpr std::uint64_t closed = std::uint64_t{1} << 63;
    enum : std::uint64_t { valid, being_aborted, is_aborted };
    static constexpr std::uint64_t stage(std::uint64_t use, std::uint64_t how) {
        return use << 2U | how;
    }
    alignas(128) std::atomic<std::uint64_t> state{valid};  // how, behind the use's number
    std::array<char, 500> words{};

    void abort_use(std::uint64_t use, std::string_view why);
    bool abort_begun(std::uint64_t use) const {
        return state.load(std::memory_order_acquire) >> 2U == use;
    }
    bool aborted(std::uint64_t use) const {
        return state.load(std::memory_order_acquire) == stage(use, is_aborted);
    }
};

/// How far a lane has come: both ends count alike, from what the maker says at first.
struct ChannelCounters {
    std::uint64_t starts = 0, published = 0, parts = 0, slots = 0;
    std::uint64_t use = 0;  // of the lane, by one transfer after the other, from 1 on
};

/// The sender's end: the lane, its ring, and the count of what went over it.
struct ChannelEnd {
    std::shared_ptr<std::byte> memory;
    Channel* channel = nullptr;
    SharedAddress address;
    ChannelCounters counters;
    std::shared_ptr<std::byte> ring;
    std::int64_t ring_bytes = 0;

    /// A ring of at least so many bytes; only while nothing is in it.
    std::byte* ring_for(std::int64_t bytes);
    void release_ring();
};

/// A lane that nobody uses, for the next use of it, made if there is none. @throws Error where
/// memory cannot be shared.
std::unique_ptr<ChannelEnd> acquire_channel();
/// Once its last transfer is done on this side; the other may still be reading its counters.
void release_channel(std::unique_ptr<ChannelEnd> end);
/// One that nobody may use again, but whose memory the other side may still look at.
void abandon_channel(std::unique_ptr<ChannelEnd> end);

}  // namespace hocket::shm
