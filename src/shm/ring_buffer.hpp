// SPDX-License-Identifier: BSD-3-Clause
// Texts from one process to another through memory that both see: a ring of words. Unlike a voice
// (cell.hpp) it lets the writer run ahead of the reader, by as much as there is room for, so that
// what is said of one matter never waits for another.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hocket::shm {

/// `Atomic` is std::atomic, or a model checker's. One writer, one reader; each keeps the count of
/// the words it has put, or taken, from 0 on.
template <template <class> class Atomic, std::size_t room>
class BasicRingBuffer {
  public:
    /// By the writer: as many of these words as there is room for now. Gives how many.
    std::size_t put(std::uint64_t& written, std::span<const std::uint64_t> words) {
        const std::uint64_t free = room - (written - read_.load(std::memory_order_acquire));
        const std::size_t count = std::min<std::size_t>(words.size(), free);
        for (std::size_t i = 0; i < count; ++i)
            words_[(written + i) % room].store(words[i], std::memory_order_relaxed);
        written += count;
        if (count > 0) written_.store(written, std::memory_order_release);
        return count;
    }
    /// Whether all that was put is taken.
    bool empty() const {
        return written_.load(std::memory_order_acquire) == read_.load(std::memory_order_acquire);
    }
    /// By the reader: whether there are words to take.
    bool any(std::uint64_t read) const { return written_.load(std::memory_order_acquire) > read; }
    /// By the reader: all that is there now, behind what `words` has.
    void take(std::uint64_t& read, std::vector<std::uint64_t>& words) {
        const std::uint64_t written = written_.load(std::memory_order_acquire);
        for (; read < written; ++read)
            words.push_back(words_[read % room].load(std::memory_order_relaxed));
        read_.store(read, std::memory_order_release);
    }

  private:
    alignas(128) Atomic<std::uint64_t> written_{0};
    alignas(128) Atomic<std::uint64_t> read_{0};
    alignas(128) std::array<Atomic<std::uint64_t>, room> words_{};
};

/// Room for what a task says of some ten calls, or for the longest array that travels as mail.
using RingBuffer = BasicRingBuffer<std::atomic, 1024>;

}  // namespace hocket::shm
