// SPDX-License-Identifier: BSD-3-Clause
// Matrices whose tiles are transposed in rings and move to rows of the result.
#include <gtest/gtest.h>

#include <set>

#include "boxes.hpp"
#include "kernel/inplace_steps.hpp"
#include "kernel/shifted_tiles.hpp"
#include "tried.hpp"
#include "unit/watched.hpp"

namespace {

using namespace hocket::testing;
using namespace hocket::kernel;

/// How a shifted step cuts the matrix, or "" where there is none; checks what it makes of it.
std::string check(std::int64_t rows, std::int64_t columns, std::int64_t unit, std::int64_t memory,
                  int threads) {
    const Permutation permutation = make_permutation(Extents{rows, columns}, Extents{1, 0}, unit);
    const auto step =
        shifted_step(permutation, {.threads = threads, .memory = memory, .method = "panels"});
    if (!step) return "";
    EXPECT_LE(step->memory, memory);
    EXPECT_TRUE(transposes(
        rows, columns, unit,
        [&](std::byte* array) { step->run(array, {.threads = threads, .schedule = {}}); }))
        << rows << " x " << columns << " of " << unit << " bytes, threads " << threads << ": "
        << step->what;
    return step->what;
}

TEST(Shifted, random_matrices_memories_and_threads) {
    std::mt19937_64 random(3);
    std::set<std::string> ways;
    constexpr int rounds = by_watch(1000, 60);
    for (int round = 0; round < rounds; ++round) {
        const std::int64_t units[] = {4, 8, 16};
        const std::int64_t unit = units[draw(random, 0, 2)];
        const std::int64_t memory = draw(random, 0, 2) > 0 ? draw(random, 16, 96) << 10 : 4 << 20;
        ways.insert(check(draw(random, 5, 400), draw(random, 5, 400), unit, memory,
                          static_cast<int>(draw(random, 1, 4))));
    }
    EXPECT_GT(ways.size(), 3 * rounds / 10);
}

TEST(Shifted, only_matrices_of_numbers) {
    const Resources means{.threads = 1, .memory = 4 << 20, .method = "panels"};
    const auto applies = [&](const Extents& shape, const Extents& axes, std::int64_t unit = 8) {
        return shifted_step(make_permutation(shape, axes, unit), means).has_value();
    };
    EXPECT_TRUE(applies({701, 301}, {1, 0}));
    EXPECT_FALSE(applies({701, 301}, {1, 0}, 24));
    EXPECT_FALSE(applies({2, 701, 301}, {0, 2, 1}));
    EXPECT_FALSE(applies({71, 31, 11}, {2, 1, 0}));
    EXPECT_FALSE(applies({7, 301}, {1, 0}));    // no tile
    EXPECT_FALSE(applies({480, 960}, {1, 0}));  // all tiles divide both sides
}

TEST(Shifted, blocks_move_in_one_direction) {
    const auto direction = [](std::int64_t rows, std::int64_t columns) {
        return ShiftedTiles{.rows = rows, .columns = columns, .unit = 8, .side = 10}.direction();
    };
    EXPECT_EQ(direction(301, 701), 1);
    EXPECT_EQ(direction(301, 700), 1);
    EXPECT_EQ(direction(301, 702), 1);  // two rows of the transpose in one of the matrix
    EXPECT_EQ(direction(301, 703), 0);
    EXPECT_EQ(direction(701, 301), -1);
    EXPECT_EQ(direction(700, 301), -1);
    EXPECT_EQ(direction(703, 301), 0);
}

TEST(Shifted, tiles_fit_the_first_level_cache) {
    const auto possible = [](std::int64_t rows, std::int64_t columns, std::int64_t side) {
        return ShiftedTiles{.rows = rows, .columns = columns, .unit = 8, .side = side}.possible();
    };
    Distances trial;
    trial.near_cache = 48 << 10;
    {
        const TriedDistances tried(trial);
        EXPECT_TRUE(possible(3001, 7001, 48));
        EXPECT_FALSE(possible(3001, 7001, 64));
        EXPECT_FALSE(possible(3001, 6144, 40));  // all rows in the same sets
    }
    trial.near_cache = 32 << 10;
    const TriedDistances tried(trial);
    EXPECT_FALSE(possible(3001, 7001, 48));
    EXPECT_TRUE(possible(3001, 7001, 40));
}

}  // namespace
