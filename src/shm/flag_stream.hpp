// SPDX-License-Identifier: BSD-3-Clause
// Streams of payloads from one process to another, whose writer may be ahead of the reader.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shm/flag.hpp"

namespace hocket::shm {

/// The number of payloads by which a writer may be ahead.
inline constexpr std::size_t stream_cells = 16;

/// The memory of one process for its streams to and from another. Only the owner writes it.
template <template <class> class Atomic, std::size_t cells = stream_cells>
struct BasicStreamMemory {
    BasicFlag<Atomic, cells> payloads;
    // The number of payloads that the owner has taken from the other's stream.
    alignas(128) Atomic<std::uint64_t> taken{0};
};

/// One side's view. Invariant: the writer publishes number n + cells, which lies in the cell of n,
/// only after the reader has taken n.
template <template <class> class Atomic, std::size_t cells = stream_cells>
struct BasicFlagStream {
    BasicStreamMemory<Atomic, cells>* mine = nullptr;
    const BasicStreamMemory<Atomic, cells>* other = nullptr;
    std::uint64_t published = 0, taken = 0, known_taken = 0;

    bool writable() {
        if (published < known_taken + cells) return true;
        known_taken = other->taken.load(std::memory_order_acquire);
        return published < known_taken + cells;
    }
    /// Only if it is writable.
    void publish(const Payload& words, std::size_t count) {
        mine->payloads.publish(++published, words, count);
    }
    bool readable() const { return other->payloads.observed(taken + 1); }
    /// Takes the next payload unread, before it comes or after.
    void skip() { mine->taken.store(++taken, std::memory_order_release); }
    /// The next payload; only if it is readable.
    Payload take(std::size_t count) {
        const Payload words = other->payloads.payload(++taken, count);
        mine->taken.store(taken, std::memory_order_release);
        return words;
    }
};

using StreamMemory = BasicStreamMemory<std::atomic>;
using FlagStream = BasicFlagStream<std::atomic>;

}  // namespace hocket::shm
