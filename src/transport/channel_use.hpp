// SPDX-License-Identifier: BSD-3-Clause
// Common to the two ends of a message within the node: how they use the channel; an error of either
// end is an error of both.
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

// A message that fits a flag's payload travels in it: one cache line, and no other.
inline bool fits_payload(const Message& message) {
    return message.bytes <= static_cast<std::int64_t>(sizeof(shm::Payload));
}
// Small enough that one process's data are still in its cache when the other reads them; enough
// slots that neither waits for each chunk.
inline constexpr std::int64_t slot_size = std::int64_t{128} << 10;
inline constexpr std::uint64_t ring_slots = 4;
inline constexpr std::uint64_t short_slots = 2;

// This end's memory may be freed after it has given up: no further chunk is taken, and the other
// end finishes those that it has taken. If it does not do so in this time, it has ended.
inline void release_memory(shm::Channel& channel, std::uint64_t end) {
    using Clock = std::chrono::steady_clock;
    const std::uint64_t taken = channel.close(end);
    const auto until = Clock::now() + std::chrono::seconds(1);
    while (!channel.all_finished(taken) && Clock::now() < until) std::this_thread::yield();
}

// Makes either end's error an error of both, because the other end would wait for ever.
template <class Step, class LetGo>
bool together(const shm::Channel& channel, std::uint64_t use, const Step& step,
              const LetGo& give_up) {
    const auto require_whole = [&] {
        if (!channel.aborted(use)) return;
        const std::string why = channel.words.data();
        give_up(why);
        throw Error("the other process of a transfer within the node gave it up: " + why);
    };
    require_whole();  // otherwise this end might copy freed memory
    try {
        if (!step()) return false;
    } catch (const std::exception& error) {
        give_up(error.what());
        throw;
    }
    require_whole();  // the failed chunk counts as finished
    return true;
}

}  // namespace hocket::transport
