// SPDX-License-Identifier: BSD-3-Clause
// The plans that given costs select, on any processor.
#include <gtest/gtest.h>

#include "kernel/costs.hpp"
#include "kernel/inplace.hpp"
#include "kernel/square.hpp"
#include "tried.hpp"

namespace {

using namespace hocket::kernel;
using hocket::testing::TriedCosts;

/// The steps of one thread.
std::vector<Step> steps(const std::vector<std::int64_t>& shape,
                        const std::vector<std::int64_t>& axes, std::int64_t unit) {
    const Permutation permutation = make_permutation(shape, axes, unit);
    return plan_inplace(permutation, {.threads = 1, .memory = 4 << 20, .method = "auto"}).steps;
}

/// Their number, and how they begin.
std::string plan(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& axes,
                 std::int64_t unit) {
    const std::vector<Step> all = steps(shape, axes, unit);
    const std::string& what = all.front().what;
    return std::to_string(all.size()) + " " + what.substr(0, what.find(' '));
}

TEST(PassCosts, small_squares_whose_rows_share_sets_stay_squares) {
    const TriedCosts tried(PassCosts::zen5());
    EXPECT_EQ(plan({96, 1024, 96}, {2, 1, 0}, 8), "1 squares");
    EXPECT_EQ(plan({64, 1024, 64}, {2, 1, 0}, 8), "1 squares");
    EXPECT_EQ(plan({128, 512, 128}, {2, 1, 0}, 8), "1 squares");
    // Others are tiles, as large as pays.
    EXPECT_EQ(plan({4000, 3000}, {1, 0}, 8), "1 tiles");
}

TEST(PassCosts, tensors_that_share_a_fast_dimension_move_in_groups) {
    for (const PassCosts& costs : {PassCosts::zen3(), PassCosts::zen5()}) {
        const TriedCosts tried(costs);
        for (const auto& all : {steps({7, 17, 90, 7, 22, 7}, {3, 5, 1, 2, 4, 0}, 8),
                                steps({31, 7, 131, 71, 5}, {4, 0, 3, 2, 1}, 8)}) {
            EXPECT_EQ(all.size(), 1u);  // the groups, and cycles before them or after them
            EXPECT_NE(all.front().what.find("groups of"), std::string::npos) << all.front().what;
        }
    }
}

TEST(PassCosts, long_rows_move_before_the_rest_or_after_it) {
    const TriedCosts tried(PassCosts::zen3());
    EXPECT_EQ(plan({26, 83, 19, 61, 3}, {3, 1, 4, 0, 2}, 8), "2 cycles");
    EXPECT_EQ(plan({102, 5, 8, 5, 24, 22}, {5, 1, 3, 4, 0, 2}, 8), "2 cycles");
}

TEST(PassCosts, arrays_in_the_second_level_cache_move_once) {
    const TriedCosts tried(PassCosts::zen5());
    EXPECT_EQ(plan({20, 30, 32}, {2, 1, 0}, 4), "1 slabs");
    EXPECT_EQ(plan({5, 80, 30}, {2, 1, 0}, 4), "1 slabs");
    EXPECT_EQ(plan({16, 8, 5, 40}, {3, 1, 0, 2}, 8), "1 slabs");
    EXPECT_EQ(plan({160, 80}, {1, 0}, 8), "1 slabs");
}

TEST(PassCosts, larger_small_tiles_make_no_squares_cheaper_than_large_ones) {
    for (const std::int64_t small_tile : {10 << 10, 40 << 10, 1 << 20}) {
        PassCosts costs = PassCosts::zen5();
        costs.swapped_in_cache = 1.0;
        costs.distances.small_tile = small_tile;
        const TriedCosts tried(costs);
        for (const std::int64_t unit : {1, 4, 8})
            for (const std::int64_t side : {64, 200, 1500, 4001, 8192, 16384}) {
                const Squares squares{.side = side, .unit = unit, .pitch = side * unit};
                if (side * side * unit < (16 << 20)) continue;
                EXPECT_GE(squares.cost(), 1.0) << side << " of " << unit << ", " << small_tile;
                EXPECT_LE(squares.cost(), 1.6) << side << " of " << unit << ", " << small_tile;
            }
    }
}

TEST(PassCosts, files_without_a_later_name_have_the_shipped_cost) {
    const PassCosts shipped = PassCosts::shipped();
    PassCosts before = shipped;
    before.swapped_past = 1.75;
    before.swapped_apart = 1.25;
    EXPECT_EQ(PassCosts::parse(before.text()).swapped_apart, 1.25);
    std::string text = before.text();
    const std::size_t line = text.find("swapped_apart");
    ASSERT_NE(line, std::string::npos);
    text.erase(line, text.find('\n', line) + 1 - line);
    EXPECT_EQ(PassCosts::parse(text).swapped_apart, shipped.swapped_apart);
    EXPECT_EQ(PassCosts::parse(text).swapped_past, 1.75);
    // As before tiles in rings had costs of their own.
    before.tiled.clear();
    EXPECT_EQ(PassCosts::parse(before.text()).tiled, shipped.tiled);
}

}  // namespace
