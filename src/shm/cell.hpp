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

inline constexpr std::size_t cell_words = 7;
using Words = std::array<std::uint64_t, cell_words>;

/// `Atomic` is std::atomic, or a model checker's.
template <template <class> class Atomic>
class BasicVoice {
  public:
    /// By the one writer. Words beyond `count` keep what they held.
    void say(std::uint64_t epoch, const Words& words, std::size_t count = cell_words) {
        Cell& cell = cells_[epoch & 1];
        for (std::size_t i = 0; i < count; ++i)
            cell.words[i].store(words[i], std::memory_order_relaxed);
        cell.epoch.store(epoch, std::memory_order_release);
    }
    bool heard(std::uint64_t epoch) const {
        return cells_[epoch & 1].epoch.load(std::memory_order_acquire) == epoch;
    }
    /// The first `count` words of a saying that was heard.
    Words words(std::uint64_t epoch, std::size_t count = cell_words) const {
        const Cell& cell = cells_[epoch & 1];
        Words words{};
        for (std::size_t i = 0; i < count; ++i)
            words[i] = cell.words[i].load(std::memory_order_relaxed);
        return words;
    }
    std::uint64_t word(std::uint64_t epoch, std::size_t index) const {
        return cells_[epoch & 1].words[index].load(std::memory_order_relaxed);
    }

  private:
    // A line each; the two lines of one writer are neighbours, since processors fetch lines in
    // pairs.
    struct alignas(64) Cell {
        Atomic<std::uint64_t> epoch{0};
        std::array<Atomic<std::uint64_t>, cell_words> words{};
    };
    alignas(128) std::array<Cell, 2> cells_{};
};

using Voice = BasicVoice<std::atomic>;
static_assert(sizeof(Voice) == 128);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // else it has no address to share

}  // namespace hocket::shm
