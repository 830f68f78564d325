// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

#include "boxes.hpp"
#include "hocket/kernel.hpp"
#include "tried.hpp"
#include "unit/watched.hpp"

namespace {

using namespace hocket::testing;
using hocket::kernel::Copy;
using hocket::kernel::Distances;
using hocket::kernel::distances;
using hocket::kernel::Stores;

std::string describe(const Extents& extents, std::int64_t itemsize, const Place& from,
                     const Place& to, int threads) {
    std::string text = "itemsize " + std::to_string(itemsize) + " threads " +
                       std::to_string(threads) + " first " + std::to_string(from.first) + " -> " +
                       std::to_string(to.first) + "; extent: source, destination stride";
    for (std::size_t d = 0; d < extents.size(); ++d)
        text += " | " + std::to_string(extents[d]) + ": " + std::to_string(from.strides[d]) + ", " +
                std::to_string(to.strides[d]);
    return text;
}

/// Copies both ways, and compares the whole destination memory: the rest must be as it was.
void check(std::mt19937_64& random, const Extents& extents, std::int64_t itemsize,
           const Place& from, const Place& to, int threads) {
    const Bytes source = random_bytes(random, from.bytes);
    const Bytes guards = random_bytes(random, to.bytes);
    Bytes expected = guards;
    naive_copy(extents, itemsize, source, from, expected, to);
    // Whether the last level holds both sides, so that nothing is prefetched.
    Distances trial = distances();
    trial.streamed_copy = draw(random, 0, 1) == 1 ? 64 : INT64_C(1) << 40;
    trial.copy_piece = INT64_C(64) << draw(random, 0, 3);
    const TriedDistances tried(trial);
    const Copy copy(extents, itemsize, from.strides, to.strides);
    const Bytes untouched = source;
    for (const Stores stores : {Stores::automatic, Stores::streaming}) {
        Bytes found = guards;
        copy.run(source.data() + from.first, found.data() + to.first, threads, stores);
        EXPECT_TRUE(same(source, untouched));
        ASSERT_TRUE(same(found, expected)) << describe(extents, itemsize, from, to, threads);
    }
}

TEST(Copy, random_boxes_of_every_itemsize) {
    std::mt19937_64 random(20261120);
    for (std::int64_t itemsize = 1; itemsize <= 66; ++itemsize)
        for (int round = 0; round < by_watch(60, 2); ++round) {
            const auto dimensions = static_cast<std::size_t>(draw(random, 0, 5));
            Extents extents(dimensions);
            std::int64_t room = 6000;
            for (auto& extent : extents) {
                extent = draw(random, draw(random, 0, 19) == 0 ? 0 : 1,
                              std::clamp<std::int64_t>(room, 1, 40));
                room /= std::max<std::int64_t>(extent, 1);
            }
            const bool gaps = draw(random, 0, 1) == 1;
            const Place from = random_place(random, extents, itemsize, gaps, round % 4 == 0);
            const Place to = random_place(random, extents, itemsize, gaps, false);
            check(random, extents, itemsize, from, to, static_cast<int>(draw(random, 1, 4)));
            if (HasFatalFailure()) return;
        }
}

TEST(Copy, every_small_matrix_transposed) {
    std::mt19937_64 random(1);
    for (const std::int64_t itemsize : {1, 2, 3, 4, 8, 16})
        for (std::int64_t rows = 0; rows <= 34; rows += by_watch(1, 3))
            for (std::int64_t columns = 0; columns <= 34; columns += by_watch(1, 3)) {
                const Extents extents{rows, columns};
                const Place from{{columns * itemsize, itemsize}, 3, rows * columns * itemsize + 6};
                const Place to{{itemsize, rows * itemsize}, 5, rows * columns * itemsize + 10};
                check(random, extents, itemsize, from, to, 1);
                if (HasFatalFailure()) return;
            }
}

TEST(Copy, every_permutation_of_three_and_four_small_dimensions) {
    std::mt19937_64 random(2);
    for (const Extents& extents : {Extents{2, 3, 4}, Extents{5, 1, 3}, Extents{3, 2, 2, 4}})
        for (const std::int64_t itemsize : {1, 4, 8, 24}) {
            std::vector<std::size_t> order(extents.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            do {
                Place from{.strides = Extents(extents.size()), .first = 64};
                Place to = from;
                std::int64_t step = itemsize;
                for (std::size_t d = extents.size(); d-- > 0; step *= extents[d])
                    from.strides[d] = step;
                step = itemsize;
                for (std::size_t d = extents.size(); d-- > 0; step *= extents[order[d]])
                    to.strides[order[d]] = step;
                from.bytes = to.bytes = 128 + step;
                check(random, extents, itemsize, from, to, 1);
                if (HasFatalFailure()) return;
            } while (std::next_permutation(order.begin(), order.end()));
        }
}

// Dense arrays whose tiles join dimensions on both sides, and dispute some.
TEST(Copy, many_short_dimensions) {
    std::mt19937_64 random(8);
    const auto dense = [](const Extents& extents, std::span<const std::size_t> order,
                          std::int64_t itemsize, std::int64_t first) {
        Place place{.strides = Extents(extents.size()), .first = first};
        std::int64_t step = itemsize;
        for (std::size_t k = order.size(); k-- > 0; step *= extents[order[k]])
            place.strides[order[k]] = step;
        place.bytes = 2 * first + step;
        return place;
    };
    for (const std::int64_t itemsize : {1, 2, 3, 4, 8, 12, 16})
        for (int round = 0; round < by_watch(40, 3); ++round) {
            // Some are beyond the caches, and so large that threads share them.
            const std::int64_t most = round % 10 == 0 ? 12 : 9;
            Extents extents(static_cast<std::size_t>(draw(random, 5, 6)));
            for (auto& extent : extents) extent = draw(random, round % 10 == 0 ? 8 : 1, most);
            std::vector<std::size_t> order(extents.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            const Place from = dense(extents, order, itemsize, 16);
            std::shuffle(order.begin(), order.end(), random);
            const Place to = dense(extents, order, itemsize, draw(random, 0, 4) * 16);
            check(random, extents, itemsize, from, to, 1 + round / 10 % 2);
            if (HasFatalFailure()) return;
        }
}

TEST(Copy, large_boxes_on_threads) {
    std::mt19937_64 random(3);
    struct Case {
        Extents extents;
        std::int64_t itemsize;
    };
    for (const auto& [extents, itemsize] :
         {Case{{511, 409}, 8}, Case{{3, 300, 401}, 4}, Case{{1 << 18}, 8}, Case{{1500001}, 1},
          Case{{3, 1 << 18}, 2}, Case{{600003, 2}, 2}, Case{{40, 40, 33, 3}, 16}})
        for (int threads = by_watch(1, 3); threads <= by_watch(4, 3); ++threads) {
            for (const bool gaps : {false, true}) {
                if (threads_watched && draw(random, 0, 1) > 0) continue;
                const Place from = random_place(random, extents, itemsize, gaps, false);
                const Place to = random_place(random, extents, itemsize, gaps, false);
                check(random, extents, itemsize, from, to, threads);
                if (HasFatalFailure()) return;
            }
        }
}

// Blocks of some lines, whose lines the destination has elsewhere, or at the same places.
TEST(Copy, rows_of_wide_units) {
    std::mt19937_64 random(6);
    for (const std::int64_t unit : {32, 48, 64, 96, 128, 200, 256, 384, 512})
        for (const std::int64_t off : {0, 16, 32, 3}) {
            if (threads_watched && draw(random, 0, 11) > 0) continue;
            const std::int64_t rows = 67, columns = (INT64_C(5) << 20) / (rows * unit) + 1;
            const std::int64_t bytes = rows * columns * unit;
            const Place from{{unit, columns * unit}, 16, 16 + bytes};
            const Place to{{rows * unit, unit}, off, off + bytes};
            check(random, {columns, rows}, unit, from, to, static_cast<int>(draw(random, 1, 3)));
            if (HasFatalFailure()) return;
        }
}

// As CYCLIC(k) to CYCLIC(m) has them, in several loops, and cut within a row by threads.
TEST(Copy, rows_of_a_few_short_runs) {
    std::mt19937_64 random(4);
    for (const std::int64_t itemsize : {2, 8, 24})
        for (const std::int64_t runs : {2, 3, 7, 16, 17})
            for (const std::int64_t rows : {15, 16, 333, by_watch(20001, 5001)})
                for (const std::int64_t blocks : {1, 3}) {
                    if (threads_watched && draw(random, 0, 3) > 0) continue;
                    const auto place = [&](std::int64_t apart) {
                        const std::int64_t row = runs * apart * itemsize + itemsize;
                        const Extents strides{rows * row, row, apart * itemsize};
                        return Place{strides, draw(random, 0, 70), 70 + blocks * rows * row};
                    };
                    check(random, {blocks, rows, runs}, itemsize, place(2), place(3),
                          static_cast<int>(draw(random, 1, 3)));
                    if (HasFatalFailure()) return;
                }
}

// Runs that move as vectors, of every rest; in the caches along the source, and past them.
TEST(Copy, runs_of_every_length) {
    std::mt19937_64 random(9);
    for (std::int64_t run = 24; run <= 4300; run += run < 600 ? 1 : by_watch(61, 301)) {
        const Extents extents{7, 5, run};
        const Place from{{run, 7 * run, 1}, 3, 35 * run + 3},
            to{{5 * run, run, 1}, 9, 35 * run + 9};
        check(random, extents, 1, from, to, 1);
        if (HasFatalFailure()) return;
    }
}

// Pictures, whose colours come together or apart.
TEST(Copy, narrow_matrices) {
    std::mt19937_64 random(10);
    for (const std::int64_t unit : {1, 2, 4, 8})
        for (std::int64_t few = 2; few <= 17; ++few)
            for (const std::int64_t many : {15, 16, 33, 64, 500, by_watch(9001, 1001)}) {
                const std::int64_t bytes = few * many * unit;
                const Place together{{few * unit, unit}, 5, bytes + 5};
                const Place apart{{unit, many * unit}, 2, bytes + 2};
                check(random, {many, few}, unit, together, apart, 1);
                check(random, {many, few}, unit, apart, together, 1);
                if (HasFatalFailure()) return;
            }
    // More rows than are transposed between two prefetches.
    constexpr std::int64_t few = 15, many = by_watch(90000, 20000);
    check(random, {few, many}, 1, {{many, 1}, 0, few * many}, {{1, few}, 0, few * many}, 2);
    check(random, {few, many}, 1, {{1, few}, 0, few * many}, {{many, 1}, 0, few * many}, 2);
}

TEST(Copy, knows_what_is_contiguous) {
    using Strides = std::array<std::int64_t, 2>;
    const Extents extents{4, 6};
    const Copy dense(extents, 8, Strides{48, 8}, Strides{48, 8});
    EXPECT_TRUE(dense.source_contiguous());
    EXPECT_TRUE(dense.destination_contiguous());
    EXPECT_EQ(dense.bytes(), 192);
    const Copy packed(extents, 8, Strides{64, 8}, Strides{48, 8});
    EXPECT_FALSE(packed.source_contiguous());
    EXPECT_TRUE(packed.destination_contiguous());
    const Copy transposed(extents, 8, Strides{48, 8}, Strides{8, 32});
    EXPECT_TRUE(transposed.source_contiguous());
    EXPECT_FALSE(transposed.destination_contiguous());  // dense, but in another order
    const Copy one_row(Extents{1, 6}, 8, Strides{1000, 8}, Strides{-7, 8});
    EXPECT_TRUE(one_row.source_contiguous() && one_row.destination_contiguous());
    const Copy nothing(Extents{0, 6}, 8, Strides{1, 2}, Strides{3, 4});
    EXPECT_EQ(nothing.bytes(), 0);
    nothing.run(nullptr, nullptr);
    Copy().run(nullptr, nullptr, 4);
    std::int64_t from = 42, to = 0;
    Copy({}, 8, {}, {}).run(&from, &to);
    EXPECT_EQ(to, 42);
}

TEST(Copy, refuses_what_cannot_be) {
    using Strides = std::vector<std::int64_t>;
    EXPECT_THROW(Copy(Extents{2, 2}, 8, Strides{16}, Strides{16, 8}), hocket::Error);
    EXPECT_THROW(Copy(Extents{2}, 8, Strides{8}, Strides{8, 1}), hocket::Error);
    EXPECT_THROW(Copy(Extents{2}, 0, Strides{8}, Strides{8}), hocket::Error);
    EXPECT_THROW(Copy(Extents{-2}, 8, Strides{8}, Strides{8}), hocket::Error);
    const std::int64_t large = std::int64_t{1} << 40;
    EXPECT_THROW(Copy(Extents{large, large}, 8, Strides{8, 8}, Strides{8, 8}), hocket::Error);
    EXPECT_THROW(Copy(Extents{large}, 8, Strides{large}, Strides{8}), hocket::Error);
    EXPECT_THROW(Copy(Extents{3, 3}, 8, Strides{8, 8}, Strides{INT64_MAX / 3, INT64_MAX / 3}),
                 hocket::Error);
    EXPECT_THROW(Copy(Extents{2}, 8, Strides{8}, Strides{INT64_MIN}), hocket::Error);
}

}  // namespace
