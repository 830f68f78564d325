// SPDX-License-Identifier: BSD-3-Clause
// A conversation of two processes that say equally many things to each other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shm/flag.hpp"

namespace hocket::shm {

/// One side of it. Neither says anything before it has heard what the other said last, which is
/// more than the rule of cell.hpp asks for. They speak at once (`publish`, then `observed`), or one
/// asks so, and the other answers: it says nothing before it was `requested`.
template <template <class> class Atomic>
struct BasicFlagPair {
    BasicFlag<Atomic>* out = nullptr;
    const BasicFlag<Atomic>* in = nullptr;
    std::uint64_t published = 0;

    void publish(const Payload& words, std::size_t count) {
        out->publish(++published, words, count);
    }
    bool observed() const { return in->observed(published); }
    /// Of what was heard.
    Payload payload(std::size_t count) const { return in->payload(published, count); }
    std::uint64_t payload_word(std::size_t index) const {
        return in->payload_word(published, index);
    }

    bool requested() const { return in->observed(published + 1); }
    Payload request_payload(std::size_t count) const { return in->payload(published + 1, count); }
};

using FlagPair = BasicFlagPair<std::atomic>;

}  // namespace hocket::shm
