// SPDX-License-Identifier: BSD-3-Clause
// The one flag protocol: how processes (or threads) that share memory tell each other a few words.
//
// A voice is two cells, used in turn. A cell is one cache line: the number of the saying (its
// epoch, counted from 1) and up to 56 bytes. The writer fills the cell of the epoch's parity and
// then publishes the epoch; a reader that sees the epoch sees the words.
//
// The one rule: epoch e + 2 may be said only after every reader has read e, because it is written
// over it. Whoever answers each saying, or takes part in rounds where everyone waits for everyone,
// keeps the rule without thinking: who hears the others say e + 1 knows that they have read e.
// Epochs have 64 bits and never come round.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hocket::shm {

inline constexpr std::size_t payload_words = 7;
using Payload = std::array<std::uint64_t, payload_words>;

/// `Atomic` is std::atomic, or a model checker's.
template <template <class> class Atomic>
class BasicFlag {
  public:
    /// By the one writer. Words beyond `count` keep what they held.
    void publish(std::uint64_t sequence, const Payload& words, std::size_t count = payload_words) {
        Cell& cell = cells_[sequence & 1];
        for (std::size_t i = 0; i < count; ++i)
            cell.words[i].store(words[i], std::memory_order_relaxed);
        cell.sequence.store(sequence, std::memory_order_release);
    }
    bool observed(std::uint64_t sequence) const {
        return cells_[sequence & 1].sequence.load(std::memory_order_acquire) == sequence;
    }
    /// The first `count` words of a saying that was heard.
    Payload payload(std::uint64_t sequence, std::size_t count = payload_words) const {
        const Cell& cell = cells_[sequence & 1];
        Payload words{};
        for (std::size_t i = 0; i < count; ++i)
            words[i] = cell.words[i].load(std::memory_order_relaxed);
        return words;
    }
    std::uint64_t payload_word(std::uint64_t sequence, std::size_t index) const {
        return cells_[sequence & 1].words[index].load(std::memory_order_relaxed);
    }

  private:
    // A line each; the two lines of one writer are neighbours, since processors fetch lines in
    // pairs.
    struct alignas(64) Cell {
        Atomic<std::uint64_t> sequence{0};
        std::array<Atomic<std::uint64_t>, payload_words> words{};
    };
    alignas(128) std::array<Cell, 2> cells_{};
};

using Flag = BasicFlag<std::atomic>;
static_assert(sizeof(Flag) == 128);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // else it has no address to share

}  // namespace hocket::shm
