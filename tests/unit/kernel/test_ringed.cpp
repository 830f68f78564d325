// SPDX-License-Identifier: BSD-3-Clause
// Tensors whose tiles are transposed in rings, before cycles of their rows or after them: only with
// costs that include rings, as a Zen 3's.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "boxes.hpp"
#include "kernel/inplace_steps.hpp"
#include "tried.hpp"
#include "unit/watched.hpp"

namespace {

using namespace hocket::testing;
using namespace hocket::kernel;

/// The tensor by the definition, in memory with a guard around it.
void permuted(const Extents& shape, const Extents& axes, std::int64_t unit, std::int64_t guard,
              const Bytes& before, Bytes& after) {
    const auto all = static_cast<std::int64_t>(before.size());
    const auto strides = dense_strides(shape, unit);
    Extents result, from;
    for (const std::int64_t axis : axes) {
        result.push_back(shape[static_cast<std::size_t>(axis)]);
        from.push_back(strides[static_cast<std::size_t>(axis)]);
    }
    naive_copy(result, unit, before, {from, guard, all}, after,
               {dense_strides(result, unit), guard, all});
}

/// How a step cuts the tensor, or "" where there is none; checks what it makes of it.
std::string check(const Extents& shape, const Extents& axes, std::int64_t unit, int threads,
                  const decltype(ringed_step)& step_of = ringed_step) {
    constexpr std::int64_t guard = 128, memory = 4 << 20;
    const Permutation permutation = make_permutation(shape, axes, unit);
    const auto step =
        step_of(permutation, {.threads = threads, .memory = memory, .method = "panels"});
    if (!step) return "";
    EXPECT_LE(step->memory, memory);
    std::mt19937_64 random(5);
    Bytes array = random_bytes(
        random, std::accumulate(shape.begin(), shape.end(), unit, std::multiplies<>()) + 2 * guard);
    Bytes expected = array;
    permuted(shape, axes, unit, guard, array, expected);
    step->run(array.data() + guard, {.threads = threads, .schedule = {}});
    EXPECT_TRUE(same(array, expected)) << permutation.text() << " of " << unit << " bytes, threads "
                                       << threads << ": " << step->what;
    return step->what;
}

/// Random tensors of 4, 8 and 16 bytes, or of any; a step that begins with `parts` or with cycles.
void check_random(const decltype(ringed_step)& step_of, const std::string& parts, bool any_unit) {
    std::mt19937_64 random(3);
    std::set<std::string> ways;
    int before = 0, after = 0;
    constexpr int rounds = by_watch(600, 60);
    for (int round = 0; round < rounds; ++round) {
        const std::int64_t units[] = {any_unit ? 1 : 4, 8, any_unit ? 24 : 16};
        const auto rank = static_cast<std::size_t>(draw(random, 2, 6));
        Extents shape(rank), axes(rank);
        std::int64_t room = 40000;
        for (auto& extent : shape) {
            const std::int64_t kinds[] = {draw(random, 2, 7), 8 * draw(random, 1, 6),
                                          draw(random, 2, 60)};
            extent = std::min(kinds[draw(random, 0, 2)], std::max<std::int64_t>(room, 1));
            room /= extent;
        }
        std::shuffle(shape.begin(), shape.end(), random);
        std::iota(axes.begin(), axes.end(), 0);
        std::shuffle(axes.begin(), axes.end(), random);
        const std::string way = check(shape, axes, units[draw(random, 0, 2)],
                                      static_cast<int>(draw(random, 1, 4)), step_of);
        if (::testing::Test::HasFailure()) return;
        (way.starts_with(parts) ? before : after) += way.empty() ? 0 : 1;
        ways.insert(way);
    }
    EXPECT_GT(ways.size(), rounds / 20);
    EXPECT_GT(before, rounds / 100);
    EXPECT_GT(after, rounds / 100);
}

TEST(Ringed, random_tensors_and_threads) {
    const TriedCosts tried(PassCosts::zen3());
    check_random(ringed_step, "tiles", false);
}

TEST(Grouped, random_tensors_and_threads) {
    const TriedCosts tried(PassCosts::zen3());
    check_random(grouped_step, "groups", true);
}

TEST(Grouped, source_and_result_share_a_fast_dimension) {
    const TriedCosts tried(PassCosts::zen3());
    const auto grouped = [](const Extents& shape, const Extents& axes, int threads) {
        const std::string what = check(shape, axes, 8, threads, grouped_step);
        EXPECT_NE(what.find("groups of"), std::string::npos) << what;
    };
    for (const int threads : {1, 3}) {
        grouped({7, 3, 5, 2, 22, 7}, {3, 5, 1, 2, 4, 0}, threads);
        grouped({2, 7, 3, 5, 22, 7}, {0, 3, 5, 2, 4, 1}, threads);
        grouped({6, 5, 3, 4, 11, 12}, {5, 2, 1, 4, 3, 0}, threads);  // 12 numbers two rows' blocks
        grouped({4, 6, 5, 40, 24}, {4, 3, 2, 0, 1}, threads);        // parts of dimensions
    }
}

TEST(Sequence, rows_and_the_rest_are_the_whole) {
    std::mt19937_64 random(7);
    constexpr std::int64_t unit = 8, guard = 128;
    for (int round = 0; round < by_watch(100, 20); ++round) {
        Extents shape(6), axes(6);
        for (auto& extent : shape) extent = draw(random, 1, 5);
        std::iota(axes.begin(), axes.end(), 0);
        std::shuffle(axes.begin(), axes.end(), random);
        const Permutation whole = make_permutation(shape, axes, unit);
        const Bytes before = random_bytes(
            random,
            std::accumulate(shape.begin(), shape.end(), unit, std::multiplies<>()) + 2 * guard);
        Bytes expected = before;
        permuted(shape, axes, unit, guard, before, expected);
        for (std::size_t columns = 0; columns < whole.dimensions(); ++columns) {
            const Sequence both = order_rows(whole, columns);
            Bytes array = before;
            for (const Permutation& part : {both.first, both.then})
                cycles_step(part, {}, false).run(array.data() + guard, {.schedule = {}});
            EXPECT_TRUE(same(array, expected)) << whole.text() << " rows of " << columns;
        }
    }
}

TEST(Grouped, rows_take_parts_of_blocks_if_they_share_no_factor) {
    PassCosts costs = PassCosts::zen3();
    costs.buffered = {{1 << 10, 1.0}, {64 << 10, 1.0}, {65 << 10, 100.0}};  // no whole arrays
    const TriedCosts tried(costs);
    for (const int threads : {1, 3})
        for (const std::int64_t unit : {8, 24}) {
            const std::string three = check({7, 96, 31}, {2, 1, 0}, unit, threads, grouped_step);
            EXPECT_NE(three.find("in parts of"), std::string::npos) << three;
            const std::string four =
                check({3, 5, 64, 31}, {3, 2, 1, 0}, unit, threads, grouped_step);
            EXPECT_NE(four.find("in parts of"), std::string::npos) << four;
        }
}

TEST(Ringed, tiles_cross_the_ends_of_dimensions) {
    const TriedCosts tried(PassCosts::zen3());
    for (const int threads : {1, 3}) {
        EXPECT_NE(check({40, 30, 28}, {2, 1, 0}, 8, threads), "");  // 20 and 40 divide 840
        EXPECT_NE(check({3, 32, 10, 48}, {0, 3, 2, 1}, 8, threads), "");
        EXPECT_NE(check({32, 7, 5, 64}, {1, 3, 2, 0}, 4, threads), "");
        EXPECT_NE(check({6, 7, 30, 20}, {3, 1, 0, 2}, 8, threads), "");
    }
}

TEST(Ringed, rows_over_several_dimensions) {
    const TriedCosts tried(PassCosts::zen3());
    const auto joined = [](const Extents& shape, const Extents& axes, int threads) {
        const std::string what = check(shape, axes, 8, threads);
        EXPECT_NE(what.find("rows over"), std::string::npos) << what;
    };
    for (const int threads : {1, 3}) {
        joined({6, 5, 8, 48, 7}, {4, 1, 3, 2, 0}, threads);  // 48 rows of (8, 6), 48 of 336 columns
        joined({2, 6, 5, 8, 48, 7}, {0, 5, 2, 4, 3, 1}, threads);
        joined({11, 5, 48, 8, 6}, {4, 1, 3, 2, 0}, threads);  // the source's: cycles come first
    }
}

TEST(Ringed, columns_beyond_the_last_tile) {
    const TriedCosts tried(PassCosts::zen3());
    const auto packed = [](const Extents& shape, const Extents& axes, int threads) {
        const std::string what = check(shape, axes, 8, threads);
        EXPECT_NE(what.find("columns beyond them"), std::string::npos) << what;
    };
    for (const int threads : {1, 2, 5}) {
        packed({41, 30, 29}, {2, 1, 0}, threads);  // one band, which threads share
        packed({41, 300, 29}, {2, 1, 0}, threads);
        packed({16, 547}, {1, 0}, threads);  // 34 tiles
        packed({3, 5, 17, 211}, {0, 3, 1, 2}, threads);
        packed({17, 11, 13, 31}, {3, 1, 0, 2}, threads);
        packed({7, 211, 5, 37}, {3, 1, 2, 0}, threads);  // cycles come first
        packed({7, 11, 311, 41}, {3, 1, 2, 0}, threads);
        // Rows over two dimensions, of which the neighbours belong to other bands.
        packed({3, 4, 9, 50}, {3, 1, 0, 2}, threads);
        packed({2, 3, 4, 9, 50}, {0, 4, 2, 1, 3}, threads);
        packed({50, 4, 3, 9}, {2, 1, 3, 0}, threads);
    }
}

TEST(Ringed, only_where_a_side_divides_the_rows) {
    const TriedCosts tried(PassCosts::zen3());
    EXPECT_EQ(check({7, 30, 11}, {2, 1, 0}, 8, 1), "");
    EXPECT_EQ(check({40, 30, 28}, {2, 1, 0}, 24, 1), "");  // no transposition in registers
    EXPECT_EQ(check({40, 30, 28}, {0, 1, 2}, 8, 1), "");
    EXPECT_EQ(check({2048, 512}, {1, 0}, 8, 1), "");  // all rows in the same sets of the cache
}

}  // namespace
