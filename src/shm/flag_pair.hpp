// SPDX-License-Identifier: BSD-3-Clause
// Two flags between two processes that publish equally many payloads to each other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shm/flag.hpp"

namespace hocket::shm {

/// One side's view. Invariant: a process publishes only after it has observed the other's last
/// payload, because both count the same sequence numbers; flag.hpp demands less. Both publish at
/// once (`publish`, then `observed`), or one requests in this way and the other answers only once
/// `requested` holds.
template <template <class> class Atomic>
struct BasicFlagPair {
    BasicFlag<Atomic>* out = nullptr;
    const BasicFlag<Atomic>* in = nullptr;
    std::uint64_t published = 0;

    void publish(const Payload& words, std::size_t count) {
        out->publish(++published, words, count);
    }
    bool observed() const { return in->observed(published); }
    /// Of the observed payload.
    Payload payload(std::size_t count) const { return in->payload(published, count); }
    std::uint64_t payload_word(std::size_t index) const {
        return in->payload_word(published, index);
    }

    bool requested() const { return in->observed(published + 1); }
    Payload request_payload(std::size_t count) const { return in->payload(published + 1, count); }
};

using FlagPair = BasicFlagPair<std::atomic>;

}  // namespace hocket::shm
