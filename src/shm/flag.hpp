// SPDX-License-Identifier: BSD-3-Clause
// The one flag protocol: processes or threads that share memory publish payloads of a few words.
//
// A flag is two cells, or more, that the writer uses in turn. A cell is one cache line: a sequence
// number, counted from 1, and a payload of up to 56 bytes.
//
// 1. The writer stores the payload in the cell of the sequence number, modulo the number of cells.
// 2. The writer publishes the sequence number with a release store.
// 3. A reader that observes the sequence number with an acquire load sees the payload.
//
// Invariant: with two cells, the writer publishes number n + 2 only after every reader has read
// payload n, because both lie in the same cell. A process that answers each number, or takes part
// in rounds in which all wait for all, keeps this invariant: it observes n + 1 only from processes
// that have read n. Sequence numbers have 64 bits and do not wrap.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hocket::shm {

inline constexpr std::size_t payload_words = 7;
using Payload = std::array<std::uint64_t, payload_words>;

/// `Atomic` is std::atomic, or a model checker's. `cells`: a power of 2.
template <template <class> class Atomic, std::size_t cells = 2>
class BasicFlag {
  public:
    /// Only the one writer calls this. Words beyond `count` keep their values.
    void publish(std::uint64_t sequence, const Payload& words, std::size_t count = payload_words) {
        auto& cell = cells_[sequence & (cells - 1)];
        for (std::size_t i = 0; i < count; ++i)
            cell[1 + i].store(words[i], std::memory_order_relaxed);
        cell[0].store(sequence, std::memory_order_release);
    }
    bool observed(std::uint64_t sequence) const {
        return cells_[sequence & (cells - 1)][0].load(std::memory_order_acquire) == sequence;
    }
    /// The first `count` words of an observed payload.
    Payload payload(std::uint64_t sequence, std::size_t count = payload_words) const {
        const auto& cell = cells_[sequence & (cells - 1)];
        Payload words{};
        for (std::size_t i = 0; i < count; ++i)
            words[i] = cell[1 + i].load(std::memory_order_relaxed);
        return words;
    }
    std::uint64_t payload_word(std::uint64_t sequence, std::size_t index) const {
        return cells_[sequence & (cells - 1)][1 + index].load(std::memory_order_relaxed);
    }

  private:
    // Of each cell the sequence number, then the payload: one cache line. The two lines of a writer
    // are neighbours, because processors fetch lines in pairs.
    alignas(128) std::array<std::array<Atomic<std::uint64_t>, 1 + payload_words>, cells> cells_{};
};

using Flag = BasicFlag<std::atomic>;
static_assert(sizeof(Flag) == 128);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // else it has no address to share

}  // namespace hocket::shm
