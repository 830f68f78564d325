// SPDX-License-Identifier: BSD-3-Clause
// Threads as the processes of teams: what the model checker tries in all orders, here on real
// memory; ThreadSanitizer watches in `make soak`.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "base/platform.hpp"
#include "shm/flag_pair.hpp"

namespace hocket::shm::flag_pair_threads_test {
namespace {

constexpr std::size_t processes = 4;

struct Memory {
    std::deque<std::deque<Flag>> voices;
    std::atomic<int> wrong{0};
    // Fewer rounds where each yield takes a slice of the scheduler's, as others use the machine.
    std::atomic<std::size_t> last{~std::size_t{0}};
    const double until = platform::seconds() + 4;
    // Not atomic: what a round makes visible of other memory.
    std::vector<std::uint64_t> plain = std::vector<std::uint64_t>(processes, 0);

    Memory() {
        for (std::size_t i = 0; i < processes; ++i) voices.emplace_back(processes);
    }
};

/// Rounds of random groups, the same on all; each is a barrier of its group.
void take_part(Memory& memory, std::size_t me, std::size_t rounds) {
    std::vector<FlagPair> talks(processes);
    for (std::size_t other = 0; other < processes; ++other)
        talks[other] = {&memory.voices[me][other], &memory.voices[other][me], 0};
    std::mt19937 random(7);
    std::mt19937 delays(static_cast<unsigned>(me));
    for (std::size_t round = 0; round < rounds; ++round) {
        const bool everyone = round % 8 == 0;
        const unsigned mask = everyone ? (1U << processes) - 1 : random() % (1U << processes);
        if ((mask >> me & 1U) == 0) continue;
        if (everyone) memory.plain[me] = round;
        for (unsigned i = delays() % 64; i > 0; --i)
            std::atomic_signal_fence(std::memory_order_seq_cst);
        const Payload mine{round, me};
        for (std::size_t other = 0; other < processes; ++other)
            if (other != me && (mask >> other & 1U) != 0) talks[other].publish(mine, 2);
        for (std::size_t other = 0; other < processes; ++other) {
            if (other == me || (mask >> other & 1U) == 0) continue;
            while (!talks[other].observed()) std::this_thread::yield();
            const Payload words = talks[other].payload(2);
            if (words[0] != round || words[1] != other) ++memory.wrong;
            // Until the next round of all nobody writes there.
            if (everyone && memory.plain[other] != round) ++memory.wrong;
        }
        if (!everyone) continue;
        if (me == 0 && platform::seconds() > memory.until) memory.last = round;
        // All have read before anyone writes again.
        for (std::size_t other = 0; other < processes; ++other)
            if (other != me) talks[other].publish(mine, 2);
        for (std::size_t other = 0; other < processes; ++other)
            while (other != me && !talks[other].observed()) std::this_thread::yield();
        if (memory.last == round) return;
    }
}

TEST(FlagPairThreads, RandomGroups) {
    Memory memory;
    std::vector<std::thread> threads;
    for (std::size_t me = 0; me < processes; ++me)
        threads.emplace_back([&memory, me] { take_part(memory, me, 4000); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(memory.wrong.load(), 0);
}

}  // namespace
}  // namespace hocket::shm::flag_pair_threads_test
