// SPDX-License-Identifier: BSD-3-Clause
// Runs of two memories change places, from any byte of them to any other, on any number of threads.
#include <gtest/gtest.h>

#include <utility>

#include "boxes.hpp"
#include "kernel/swap.hpp"
#include "unit/watched.hpp"

namespace {

using namespace hocket::testing;
using hocket::kernel::Runs;

/// Swaps, and compares both memories whole: what lies between the runs must be as it was.
void check(std::mt19937_64& random, std::int64_t count, Runs runs, int threads) {
    const std::int64_t off = draw(random, 0, 70), all = count * runs.run;
    const std::int64_t first = draw(random, 0, all), last = draw(random, first, all);
    Bytes a = random_bytes(random, off + count * runs.pitch + 70);
    Bytes b = random_bytes(random, off + count * runs.pitch + 70);
    Bytes wanted_a = a, wanted_b = b;
    for (std::int64_t row = 0; row < count; ++row) {
        const std::int64_t from = std::max(first - row * runs.run, INT64_C(0));
        const std::int64_t to = std::min(last - row * runs.run, runs.run);
        if (from >= to) continue;
        const auto at = wanted_a.begin() + off + row * runs.pitch;
        std::swap_ranges(at + from, at + to, wanted_b.begin() + off + row * runs.pitch + from);
    }
    hocket::kernel::swap(a.data() + off, b.data() + off, runs, first, last, threads);
    EXPECT_TRUE(a == wanted_a && b == wanted_b)
        << count << " runs of " << runs.run << " bytes " << runs.pitch << " apart, from " << first
        << " to " << last << ", threads " << threads;
}

TEST(Swap, random_runs_and_ranges) {
    std::mt19937_64 random(31);
    for (int round = 0; round < by_watch(2000, 200); ++round) {
        const std::int64_t run = draw(random, 1, draw(random, 0, 3) == 0 ? 20000 : 200);
        check(random, draw(random, 1, 12), {run, run + draw(random, 0, 100)},
              static_cast<int>(draw(random, 1, 4)));
        if (HasFailure()) return;
    }
}

TEST(Swap, parts_on_threads) {
    std::mt19937_64 random(32);
    const std::int64_t bytes = by_watch(INT64_C(6), INT64_C(4)) << 20;
    for (const std::int64_t run : {INT64_C(700), INT64_C(123457), bytes})
        for (int round = 0; round < by_watch(8, 1); ++round) {
            const std::int64_t count = bytes / run;
            check(random, count, {run, run + draw(random, 0, 1) * 64}, 2 + round % 3);
            if (HasFailure()) return;
        }
}

}  // namespace
