// SPDX-License-Identifier: BSD-3-Clause
// A shared-memory channel carries arrays from one process of a node to another by flags, without an
// MPI message. The sender makes the channel, and sends its address to the receiver, which maps it.
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

/// Both ends of a channel count alike, from the sender's values when it sends the channel's
/// address.
struct ChannelCounters {
    std::uint64_t starts = 0, published = 0, parts = 0, slots = 0;
    std::uint64_t use = 0;  // number of the channel's current use, from 1
};

/// The channel's state in shared memory. Invariant: counters only grow, because a channel serves
/// one transfer after the other, and a late reader must not miss a value that it waits for.
struct Channel {
    Flag forward;                                         // sender to receiver
    Flag back;                                            // receiver to sender
    alignas(128) std::atomic<std::uint64_t> claimed{0};   // parts that a process has claimed
    alignas(128) std::atomic<std::uint64_t> finished{0};  // parts that are copied
    alignas(128) std::atomic<std::uint64_t> filled{0};    // slots of the ring, by the sender
    alignas(128) std::atomic<std::uint64_t> drained{0};   // slots of the ring, by the receiver
    // The receiver's latest start of a short message whose elements it drops. Only a hint, so that
    // the sender packs them and need not wait: the receiver still takes the message.
    std::atomic<std::uint64_t> dropped{0};

    /// Claims the next free part below `end`; returns `end` if there is none.
    std::uint64_t claim(std::uint64_t end) {
        std::uint64_t next = claimed.load(std::memory_order_acquire);
        while (next < end &&
               !claimed.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel)) {
        }
        return next < end ? next : end;
    }
    /// Stops further claims of parts below `end`. Returns the number of claimed parts.
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

    SharedAddress address;  // its own
    // The sender writes these before it sends the channel's address, and at the end of its use: a
    // receiver that is late reads the same counts, because nothing has started since.
    ChannelCounters counters;
    SharedAddress ring;  // of its ring for short messages; empty: none

    // Instead of a message the sender refuses it, by the number of its start. Two entries do,
    // because it makes its next start only once the receiver has begun this one.
    std::array<std::atomic<std::uint64_t>, 2> refusals{};
    void refuse(std::uint64_t start) {
        refusals[start & 1].store(start, std::memory_order_release);
    }
    bool refused(std::uint64_t start) const {
        return refusals[start & 1].load(std::memory_order_acquire) == start;
    }

    // Either end aborts a use of the channel at most once. The reason of the first one stays, and a
    // late abort of an earlier use has no effect on the current use.
    static constexpr std::uint64_t closed = std::uint64_t{1} << 63;
    enum : std::uint64_t { valid, being_aborted, is_aborted };
    static constexpr std::uint64_t stage(std::uint64_t use, std::uint64_t how) {
        return use << 2U | how;
    }
    alignas(128) std::atomic<std::uint64_t> state{valid};  // the use's number, then its state
    std::array<char, 500> words{};

    void abort_use(std::uint64_t use, std::string_view why);
    bool abort_begun(std::uint64_t use) const {
        return state.load(std::memory_order_acquire) >> 2U == use;
    }
    bool aborted(std::uint64_t use) const {
        return state.load(std::memory_order_acquire) == stage(use, is_aborted);
    }
};

/// A free channel, or a new one, with the counters of its last use. @throws Error if memory cannot
/// be shared.
std::shared_ptr<Channel> acquire_channel();
/// Returns a channel whose transfers are complete here, with the sender's counters.
void release_channel(std::shared_ptr<Channel> channel, const ChannelCounters& counters);
/// Keeps the memory of a channel and of its ring that must not be used again, because the receiver
/// may read it.
void abandon_channel(std::shared_ptr<Channel> channel, std::shared_ptr<std::byte> ring);

}  // namespace hocket::shm
