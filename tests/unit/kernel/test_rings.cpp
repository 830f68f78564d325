// SPDX-License-Identifier: BSD-3-Clause
// Panels that change places in rings, and the cycles that put everything where it belongs.
#include <gtest/gtest.h>

#include "boxes.hpp"
#include "kernel/panels.hpp"
#include "kernel/permutation.hpp"
#include "tried.hpp"
#include "unit/watched.hpp"

namespace {

using namespace hocket::testing;
using namespace hocket::kernel;

/// (batch, rows, columns) to (batch, columns, rows), by panels of `width` rows first, or of `width`
/// columns last, on memory that begins `off` bytes beyond a page.
void check(bool gathering, const Extents& n, std::int64_t unit, std::int64_t width, int threads,
           std::int64_t off) {
    const std::int64_t batch = n[0], rows = n[1], columns = n[2];
    const Extents axes{0, 2, 1};
    const Permutation permutation = make_permutation(n, axes, unit);
    const Panels panels{.outer = batch,
                        .extent = gathering ? rows : columns,
                        .width = width,
                        .inner = gathering ? columns : rows,
                        .unit = unit};
    const std::int64_t items = permutation.batch, in_ring = panels.ring(gathering, items, threads);
    ASSERT_GT(in_ring, 0);
    const Ring ring{panels.inner, in_ring * panels.inner, gathering};
    Permutation moved = permutation;
    moved.extents[gathering ? 0 : 1] = panels.parts();
    moved.block = width * unit;
    const Pass pass{.threads = threads, .schedule = {}};

    const std::int64_t bytes = batch * rows * columns * unit, guard = 128;
    std::mt19937_64 random(5);
    Bytes memory = random_bytes(random, bytes + 4096 + off + 2 * guard);
    const auto page =
        static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(memory.data() + guard) & 4095);
    const std::int64_t first = guard + page + off, all = static_cast<std::int64_t>(memory.size());
    const Bytes before = memory;
    Bytes expected = memory;
    const std::int64_t item = rows * columns * unit;
    naive_copy({batch, columns, rows}, unit, before, {{item, unit, columns * unit}, first, all},
               expected, {{item, rows * unit, unit}, first, all});
    std::byte* const array = memory.data() + first;
    if (gathering) panels.gather(array, threads, in_ring, items);
    move_cycles(array, moved, panels.positions(), pass, ring);
    if (!gathering) panels.scatter(array, threads, in_ring, items);
    EXPECT_TRUE(same(memory, expected))
        << (gathering ? "gather " : "scatter ") << batch << " x " << rows << " x " << columns
        << " of " << unit << " bytes, width " << width << ", threads " << threads << ", off "
        << off;
}

TEST(Rings, every_width_unit_and_number_of_threads) {
    std::mt19937_64 random(6);
    for (const std::int64_t unit : {4, 8, 16})
        for (const std::int64_t batch : {1, 3})
            for (const std::int64_t lines : {8, 11})
                for (int threads = 1; threads <= 4; ++threads)
                    for (const std::int64_t off : {INT64_C(0), INT64_C(16), unit, INT64_C(3)}) {
                        if (threads_watched && (threads != 3 || draw(random, 0, 3) > 0)) continue;
                        const std::int64_t whole = lines * 64 / unit, least = 512 / unit;
                        // Rings of several lengths, the last one shorter.
                        check(true, {batch, whole * 41, 13}, unit, whole, threads, off);
                        check(true, {batch, whole * 8, 70}, unit, whole, threads, off);
                        check(false, {batch, 64 / unit, least * 37}, unit, least, threads, off);
                        check(false, {batch, whole, (least + 3) * 9}, unit, least + 3, threads,
                              off);
                        Distances trial;
                        trial.ring_row = 512;
                        const TriedDistances tried(trial);
                        check(true, {batch, (least + 3) * 9, 17}, unit, least + 3, threads, off);
                    }
}

TEST(Rings, only_where_rows_are_whole_lines) {
    Distances trial;
    const TriedDistances usual(trial);
    const auto rings = [](std::int64_t extent, std::int64_t width, std::int64_t inner,
                          std::int64_t unit, bool gathering) {
        return Panels{.outer = 1, .extent = extent, .width = width, .inner = inner, .unit = unit}
                   .ring(gathering, 1, 1) > 0;
    };
    EXPECT_TRUE(rings(8000, 80, 100, 8, true));
    EXPECT_FALSE(rings(8100, 81, 100, 8, true));    // rows of 648 bytes
    EXPECT_FALSE(rings(8001, 80, 100, 8, true));    // a remainder
    EXPECT_FALSE(rings(560, 80, 100, 8, true));     // too few panels
    EXPECT_FALSE(rings(8000, 40, 100, 8, true));    // short blocks
    EXPECT_FALSE(rings(8000, 800, 4000, 8, true));  // beyond the cache
    EXPECT_FALSE(rings(51200, 512, 100, 8, true));  // rows of a page
    EXPECT_FALSE(rings(8000, 80, 100, 24, true));   // no registers turn these
    EXPECT_TRUE(rings(8000, 80, 96, 8, false));
    EXPECT_FALSE(rings(8000, 80, 31, 8, false));  // scattered rows of 248 bytes
    // Scattered rows of 800 bytes: on some processors.
    for (const Fetching fetching : {Fetching::second_level, Fetching::first_level}) {
        trial.fetching = fetching;
        try_distances(&trial);
        EXPECT_EQ(rings(8000, 80, 100, 8, false), fetching == Fetching::first_level);
    }
    // Rows within lines, and panels beyond the second level: on others.
    trial.fetching = Fetching::second_level;
    trial.ring_row = 512;
    EXPECT_TRUE(rings(8100, 81, 100, 8, true));
    EXPECT_TRUE(rings(8000, 80, 100, 8, false));
    EXPECT_FALSE(rings(8000, 80, 31, 8, false));
    trial.ring_panel = 8 << 20;
    EXPECT_TRUE(rings(16000, 1000, 1000, 8, true));
    EXPECT_FALSE(rings(16000, 1000, 1100, 8, true));
}

}  // namespace
