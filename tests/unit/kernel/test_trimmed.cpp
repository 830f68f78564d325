// SPDX-License-Identifier: BSD-3-Clause
// Matrices whose sides have a common divisor only without their last rows and columns.
#include <gtest/gtest.h>

#include <set>

#include "boxes.hpp"
#include "kernel/inplace_steps.hpp"
#include "kernel/permutation.hpp"
#include "unit/watched.hpp"

namespace {

using namespace hocket::testing;
using namespace hocket::kernel;

/// How a trimmed step cuts the matrix, or "" where there is none; checks what it makes of it.
std::string check(std::int64_t rows, std::int64_t columns, std::int64_t unit, std::int64_t memory,
                  int threads) {
    const Permutation permutation = make_permutation(Extents{rows, columns}, Extents{1, 0}, unit);
    const Resources means{.threads = threads, .memory = memory, .method = "panels"};
    const auto step = trimmed_step(permutation, means);
    if (!step) return "";
    EXPECT_LE(step->memory, memory);
    EXPECT_TRUE(transposes(
        rows, columns, unit,
        [&](std::byte* array) { step->run(array, {.threads = threads, .schedule = {}}); }))
        << rows << " x " << columns << " of " << unit << " bytes, threads " << threads << ": "
        << step->what;
    return step->what;
}

TEST(Trimmed, random_matrices_memories_and_threads) {
    std::mt19937_64 random(3);
    std::set<std::string> ways;
    constexpr int rounds = by_watch(1000, 60);
    for (int round = 0; round < rounds; ++round) {
        const std::int64_t units[] = {1, 2, 3, 4, 8, 12, 16, 40};
        const std::int64_t unit = units[draw(random, 0, 7)];
        const std::int64_t memory = draw(random, 0, 2) > 0 ? draw(random, 8, 64) << 10 : 4 << 20;
        ways.insert(check(draw(random, 5, 400), draw(random, 5, 400), unit, memory,
                          static_cast<int>(draw(random, 1, 4))));
    }
    EXPECT_GT(ways.size(), 3 * rounds / 10);
}

TEST(Trimmed, only_matrices) {
    const Resources means{.threads = 1, .memory = 4 << 20, .method = "panels"};
    const auto applies = [&](const Extents& shape, const Extents& axes) {
        return trimmed_step(make_permutation(shape, axes, 8), means).has_value();
    };
    EXPECT_TRUE(applies({701, 301}, {1, 0}));
    EXPECT_FALSE(applies({2, 701, 301}, {0, 2, 1}));
    EXPECT_FALSE(applies({71, 31, 11}, {2, 1, 0}));
    EXPECT_FALSE(applies({3, 301}, {1, 0}));  // not two panels
}

TEST(Trimmed, panels_begin_from_the_end_that_leaves_room) {
    const auto direction = [](std::int64_t extent, std::int64_t inner, std::int64_t left_out) {
        return Panels{.outer = 1,
                      .extent = extent,
                      .width = 10,
                      .inner = inner,
                      .unit = 8,
                      .left_out = left_out}
            .direction();
    };
    EXPECT_EQ(direction(709, 300, 0), 1);   // nine units more a row of the result
    EXPECT_EQ(direction(709, 300, 1), 1);   // more than what is left out
    EXPECT_EQ(direction(700, 300, 1), -1);  // no gaps
    EXPECT_EQ(direction(701, 300, 1), -1);
    EXPECT_EQ(direction(700, 300, 70), 0);  // the last go down by many panels
}

}  // namespace
