// SPDX-License-Identifier: BSD-3-Clause
// The chunks of iterations under each schedule. The pool decides on their threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "kernel/loop_schedule.hpp"

namespace hocket::kernel {
namespace {

using Chunk = std::pair<std::int64_t, std::int64_t>;

/// The chunks that ran, by their first iteration.
std::vector<Chunk> chunks_of(const char* schedule, int threads, std::int64_t count) {
    std::vector<Chunk> out;
    std::mutex mutex;
    run_scheduled(
        LoopSchedule::parse(schedule), threads, count, [](std::int64_t k) { return 1 + k % 7; },
        [&](std::int64_t first, std::int64_t last) {
            const std::lock_guard lock(mutex);
            out.emplace_back(first, last);
        });
    std::sort(out.begin(), out.end());
    return out;
}

std::vector<std::int64_t> sizes_of(const char* schedule, int threads, std::int64_t count) {
    std::vector<std::int64_t> out;
    for (const auto& [first, last] : chunks_of(schedule, threads, count))
        out.push_back(last - first);
    return out;
}

using Sizes = std::vector<std::int64_t>;

TEST(LoopSchedule, static_gives_every_thread_one_share) {
    EXPECT_EQ(sizes_of("static", 4, 100), (Sizes{25, 25, 25, 25}));
    EXPECT_EQ(sizes_of("static", 4, 10), (Sizes{3, 3, 3, 1}));
    EXPECT_EQ(sizes_of("static", 4, 2), (Sizes{1, 1}));
}

TEST(LoopSchedule, dynamic_cuts_chunks_of_the_size_asked_for) {
    EXPECT_EQ(sizes_of("dynamic,8", 4, 30), (Sizes{8, 8, 8, 6}));
    EXPECT_EQ(sizes_of("dynamic", 4, 30), (Sizes{8, 8, 8, 6}));  // a share each, as OpenMP has it
    EXPECT_EQ(sizes_of("dynamic,1", 3, 5), (Sizes{1, 1, 1, 1, 1}));
}

TEST(LoopSchedule, guided_takes_a_threads_share_of_what_is_left) {
    EXPECT_EQ(sizes_of("guided", 4, 32), (Sizes{8, 6, 5, 4, 3, 2, 1, 1, 1, 1}));
    EXPECT_EQ(sizes_of("guided,4", 4, 32), (Sizes{8, 6, 5, 4, 4, 4, 1}));
}

TEST(LoopSchedule, affinity_halves_what_is_left_of_every_partition) {
    EXPECT_EQ(sizes_of("affinity", 2, 32), (Sizes{8, 4, 2, 1, 1, 8, 4, 2, 1, 1}));
    EXPECT_EQ(sizes_of("affinity,6", 2, 32), (Sizes{6, 6, 4, 6, 6, 4}));
    EXPECT_EQ(sizes_of("affinity", 4, 3), (Sizes{1, 1, 1}));
}

TEST(LoopSchedule, every_iteration_runs_once) {
    for (const char* schedule :
         {"auto", "static", "static,balanced", "guided", "guided,3", "dynamic", "dynamic,7",
          "dynamic,largest", "dynamic,4,largest", "affinity", "affinity,5"})
        for (int threads = 1; threads <= 4; ++threads)
            for (const std::int64_t count : {0, 1, 2, 3, 17, 100, 1001}) {
                std::int64_t next = 0;
                for (const auto& [first, last] : chunks_of(schedule, threads, count)) {
                    EXPECT_EQ(first, next) << schedule << ", " << threads << " threads";
                    next = last;
                }
                EXPECT_EQ(next, count) << schedule << ", " << threads << " threads";
            }
}

/// On one thread the order is the schedule's own.
TEST(LoopSchedule, largest_first_begins_with_the_longest) {
    const Sizes lengths{3, 9, 1, 9, 4};
    Sizes order;
    run_scheduled(
        LoopSchedule::parse("dynamic,1,largest"), 1, 5,
        [&](std::int64_t k) { return lengths[static_cast<std::size_t>(k)]; },
        [&](std::int64_t first, std::int64_t) { order.push_back(first); });
    EXPECT_EQ(order, (Sizes{1, 3, 4, 0, 2}));
}

}  // namespace
}  // namespace hocket::kernel
