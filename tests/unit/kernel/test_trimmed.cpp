// SPDX-License-Identifier: BSD-3-Clause
// Matrices whose sides have a common divisor only without their last rows and columns.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "boxes.hpp"
#include "kernel/inplace_steps.hpp"
#include "kernel/moved_rows.hpp"
#include "kernel/permutation.hpp"
#include "unit/watched.hpp"

namespace {

using namespace hocket::testing;
using namespace hocket::kernel;

/// How a trimmed step cuts the matrix, or "" where there is none; checks what it makes of it.
std::string check(std::int64_t rows, std::int64_t columns, std::int64_t unit, std::int64_t memory,
                  int threads) {
    const Permutation permutation = make_permutation(Extents{rows, columns}, Extents{1, 0}, unit);
    const Resources means{.threads = threads, .memory = memory, .method = "tiles"};
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
                          static_cast<int>(draw(random, 0, 4) > 0 ? draw(random, 1, 4) : 32)));
    }
    EXPECT_GT(ways.size(), 3 * rounds / 10);
}

TEST(Trimmed, rows_and_columns_may_have_dimensions_between_them) {
    const Resources means{.threads = 2, .memory = 4 << 20, .method = "tiles"};
    const auto applies = [&](const Extents& shape, const Extents& axes) {
        const auto step = trimmed_step(make_permutation(shape, axes, 8), means);
        if (!step) return false;
        Extents result, strides;
        const Extents from = dense_strides(shape, 8);
        for (const std::int64_t axis : axes) {
            result.push_back(shape[static_cast<std::size_t>(axis)]);
            strides.push_back(from[static_cast<std::size_t>(axis)]);
        }
        std::mt19937_64 random(7);
        Bytes array = random_bytes(random, from[0] * shape[0]), expected = array;
        const auto bytes = std::ssize(array);
        naive_copy(result, 8, array, {strides, 0, bytes}, expected,
                   {dense_strides(result, 8), 0, bytes});
        step->run(array.data(), {.threads = 2, .schedule = {}});
        EXPECT_TRUE(same(array, expected)) << step->what;
        return true;
    };
    EXPECT_TRUE(applies({701, 301}, {1, 0}));
    EXPECT_TRUE(applies({71, 31, 41}, {2, 1, 0}));
    EXPECT_TRUE(applies({5, 80, 61}, {2, 0, 1}));
    EXPECT_TRUE(applies({5, 80, 7, 61}, {2, 0, 3, 1}));  // the columns within other dimensions
    EXPECT_TRUE(applies({3, 401, 333}, {0, 2, 1}));      // one matrix after the other
    EXPECT_FALSE(applies({3, 40, 33}, {0, 2, 1}));       // too short for that
    EXPECT_FALSE(applies({3, 301}, {1, 0}));             // no two tiles
}

TEST(Trimmed, blocks_move_up_in_some_parts_and_down_in_others) {
    const std::vector<std::array<std::int64_t, 4>> cases{
        {3, 8, 7, 24},    {7, 24, 3, 8},    {5, 8, 4, 8},    {4, 8, 13, 24},
        {1, 8, 100, 800}, {100, 8, 1, 800}, {100, 80, 3, 8}, {2, 800, 5, 8}};
    for (const auto& [few, gap, more, larger] : cases) {
        constexpr std::int64_t block = 24, blocks = 200;
        const MovedRows rows{.from = {block, few, few * block + gap},
                             .to = {block, more, more * block + larger},
                             .count = blocks};
        for (const int threads : {1, 2, 5, 8, 64}) {
            Extents array(blocks * (block + larger + gap) / 8);
            for (std::int64_t k = 0; k < blocks; ++k)
                array[static_cast<std::size_t>(rows.from.at(k) / 8) + 1] = k;
            rows.run(reinterpret_cast<std::byte*>(array.data()), threads);
            for (std::int64_t k = 0; k < blocks; ++k)
                ASSERT_EQ(array[static_cast<std::size_t>(rows.to.at(k) / 8) + 1], k) << threads;
        }
    }
}

}  // namespace
