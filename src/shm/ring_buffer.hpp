// SPDX-License-Identifier: BSD-3-Clause
// A ring buffer of words in shared memory, from one process to another. The writer of a flag
// (flag.hpp) waits for its readers; the writer of a ring buffer runs ahead by the buffer's size, so
// that texts of one call never wait for those of another.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hocket::shm {

/// `Atomic` is std::atomic, or a model checker's. There is one writer and one reader. Each counts
/// the words that it has put or taken, from 0.
template <template <class> class Atomic, std::size_t capacity>
class BasicRingBuffer {
  public:
    /// The writer puts as many of these words as fit now. Returns their number.
    std::size_t put(std::uint64_t& written, std::span<const std::uint64_t> words) {
        return put(written, words.size(), [&](std::size_t i) { return words[i]; });
    }
    /// As above, of `most` words: `word(i)` each.
    template <class Word>
    std::size_t put(std::uint64_t& written, std::size_t most, const Word& word) {
        const std::uint64_t first = written;
        const std::uint64_t free = capacity - (first - read_.load(std::memory_order_acquire));
        const std::size_t count = std::min<std::size_t>(most, free);
        for (std::size_t i = 0; i < count; ++i)
            words_[(first + i) % capacity].store(word(i), std::memory_order_relaxed);
        written = first + count;
        if (count > 0) written_.store(written, std::memory_order_release);
        return count;
    }
    /// Whether the writer may free it: the reader has detached, or none has attached and there are
    /// no words for it.
    bool unused() const {
        const std::uint64_t reader = reader_.load(std::memory_order_acquire);
        return reader == detached || (reader == none && written_.load(std::memory_order_acquire) ==
                                                            read_.load(std::memory_order_acquire));
    }
    bool has_detached() const { return reader_.load(std::memory_order_acquire) == detached; }
    /// The reader attaches before it takes words, and detaches for ever.
    void attach() { reader_.store(attached, std::memory_order_release); }
    void detach() { reader_.store(detached, std::memory_order_release); }
    /// Whether the reader finds words to take.
    bool any(std::uint64_t read) const { return written_.load(std::memory_order_acquire) > read; }
    /// The reader takes as many of `most` words as are available: calls `visit(i, word)` for each,
    /// which must not throw. Returns their number.
    template <class Visit>
    std::size_t take(std::uint64_t& read, std::size_t most, const Visit& visit) {
        const std::uint64_t first = read;
        const auto count = static_cast<std::size_t>(
            std::min<std::uint64_t>(most, written_.load(std::memory_order_acquire) - first));
        for (std::size_t i = 0; i < count; ++i)
            visit(i, words_[(first + i) % capacity].load(std::memory_order_relaxed));
        if (count == 0) return 0;
        read = first + count;
        read_.store(read, std::memory_order_release);
        return count;
    }

  private:
    static constexpr std::uint64_t none = 0, attached = 1, detached = 2;  // readers
    alignas(128) Atomic<std::uint64_t> written_{0};
    alignas(128) Atomic<std::uint64_t> read_{0};
    Atomic<std::uint64_t> reader_{none};
    alignas(128) std::array<Atomic<std::uint64_t>, capacity> words_{};
};

/// Large enough for the descriptors of some ten calls, or for the longest eager message.
using RingBuffer = BasicRingBuffer<std::atomic, 1024>;

}  // namespace hocket::shm
