// SPDX-License-Identifier: BSD-3-Clause
// What the two ends of a message within a node have in common: how its lane is used, and that an
// error of either is one of both.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>

#include "hocket/error.hpp"
#include "shm/channel.hpp"
#include "transport/shm_message.hpp"

namespace hocket::transport {

// What fits a saying travels in it: one line, and no other.
inline bool fits_payload(const Message& message) {
    return message.bytes <= static_cast<std::int64_t>(sizeof(shm::Payload));
}
// Small enough that what one process fills is in its cache still when the other drains it; enough
// slots that neither waits for each part.
inline constexpr std::int64_t slot_size = std::int64_t{128} << 10;
inline constexpr std::uint64_t ring_slots = 4;
inline constexpr std::uint64_t short_slots = 2;

// Slots begin where cache lines do, so that the two ends write none together.
inline std::int64_t slot_for(std::int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

// This end's memory may go when it has given up: nobody takes a part any more, and the other end
// finishes what it has taken. One that does not in such a time is not there any more.
inline void release_memory(shm::Channel& channel, std::uint64_t end) {
    using Clock = std::chrono::steady_clock;
    const std::uint64_t taken = channel.close(end);
    const auto until = Clock::now() + std::chrono::seconds(1);
    while (!channel.all_finished(taken) && Clock::now() < until) std::this_thread::yield();
}

// Either end's error is an error of both: who waits for the other would wait for ever.
template <class Step, class LetGo>
bool together(const shm::Channel& channel, std::uint64_t use, const Step& step,
              const LetGo& give_up) {
    const auto require_whole = [&] {
        if (!channel.aborted(use)) return;
        const std::string why = channel.words.data();
        give_up(why);
        throw Error("the other process of a transfer within the node gave it up: " + why);
    };
    require_whole();  // else this end might copy what is not there any more
    try {
        if (!step()) return false;
    } catch (const std::exception& error) {
        give_up(error.what());
        throw;
    }
    require_whole();  // the part that failed counts as finished
    return true;
}

}  // namespace hocket::transport
