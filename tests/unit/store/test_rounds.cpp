// SPDX-License-Identifier: BSD-3-Clause
// Which process takes which files: every element once, every file by one process, within the
// buffer; and what a process needs to know of the others.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>

#include "hocket/error.hpp"
#include "hocket/plan.hpp"
#include "store/round_boxes.hpp"
#include "store/rounds.hpp"

namespace {

using namespace hocket;
using store::Rounds;

zarr::Metadata array_of(const Shape& shape, const Shape& chunk, const Shape& file) {
    zarr::Metadata out;
    out.shape = shape;
    out.type = zarr::type_of_name("int32");
    out.chunk = chunk;
    out.file = file;
    out.sharded = true;
    return out;
}

TEST(Rounds, TakeEveryElementOnceAndEveryFileByOneWriter) {
    std::mt19937 random(3);
    const auto below = [&](std::int64_t n) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(n));
    };
    for (int round = 0; round < 400; ++round) {
        Shape shape, chunk, file;
        IndexBox region;
        for (std::int64_t d = below(4); d > 0; --d) {
            shape.push_back(1 + below(12));
            chunk.push_back(1 + below(3));
            file.push_back(chunk.back() * (1 + below(3)));
            region.start.push_back(below(shape.back() / 3 + 1));
            region.stop.push_back(shape.back() - below(shape.back() / 3 + 1));
        }
        const zarr::Metadata array = array_of(shape, chunk, file);
        const std::int64_t buffer = array.chunk_bytes() * (1 + below(40));
        const Rounds rounds(array, region, 1 + below(9), buffer);
        std::map<std::int64_t, int> taken;
        std::map<Shape, std::int64_t> writer_of;
        for (std::int64_t w = 0; w < rounds.writers(); ++w)
            for (std::int64_t k = 0; k < rounds.count(); ++k) {
                const IndexBox box = rounds.box(w, k);
                if (zarr::is_empty(box)) continue;
                const std::int64_t count = zarr::product_of(zarr::extents_of(box));
                EXPECT_LE(count * 4, std::min(buffer, rounds.largest()));
                for (std::int64_t n = 0; n < count; ++n) {
                    const Shape at = zarr::index_in(box, n);
                    ++taken[zarr::row_major(at, shape)];
                    Shape of = at;
                    for (std::size_t d = 0; d < of.size(); ++d) of[d] /= file[d];
                    EXPECT_EQ(writer_of.emplace(of, w).first->second, w);
                    if (rounds.parts() > 1) {
                        EXPECT_EQ(rounds.file(w, k), of);
                    }
                }
            }
        const bool none = zarr::is_empty(region);
        EXPECT_EQ(static_cast<std::int64_t>(taken.size()),
                  none ? 0 : zarr::product_of(zarr::extents_of(region)));
        for (const auto& [place, times] : taken) EXPECT_EQ(times, 1);
    }
}

TEST(Rounds, ShareFilesOutEvenly) {
    const zarr::Metadata array = array_of({1000, 10}, {10, 10}, {10, 10});
    const Rounds rounds(array, zarr::whole_of(array.shape), 7, 4000);
    EXPECT_EQ(rounds.writers(), 7);
    EXPECT_EQ(rounds.count(), 2);  // 100 files in tiles of up to 10
    EXPECT_THROW(Rounds(array, zarr::whole_of(array.shape), 7, 399), Error);
}

TEST(Rounds, TheTurnOfEachTileIsThatOfItsBox) {
    const zarr::Metadata array = array_of({70, 33}, {5, 4}, {10, 4});
    const IndexBox region{{7, 3}, {64, 30}};
    for (const std::int64_t buffer : {80, 160, 400, 4000})
        for (const auto& order : {std::vector<std::size_t>{}, std::vector<std::size_t>{1, 0}}) {
            const Rounds rounds(array, region, 4, buffer, order);
            for (std::int64_t w = 0; w < rounds.writers(); ++w)
                for (std::int64_t k = 0; k < rounds.count(); ++k) {
                    const IndexBox box = rounds.box(w, k);
                    if (zarr::is_empty(box)) continue;
                    Shape tile;
                    for (std::size_t d = 0; d < 2; ++d) {
                        tile.push_back(rounds.tile_of(d, box.start[d]));
                        EXPECT_GE(rounds.end_of(d, tile[d]), box.stop[d]);
                    }
                    const auto turn = rounds.turn_of(tile);
                    EXPECT_EQ(turn.writer, w);
                    EXPECT_EQ(turn.first_round, k - k % rounds.parts());
                }
        }
}

// Whatever a process leaves out, its part of the plan is that of the layout of all boxes.
TEST(RoundBoxes, ThatAProcessLeavesOutAreNotItsOwn) {
    const zarr::Metadata array = array_of({40, 30}, {4, 5}, {8, 5});
    const IndexBox region{{3, 2}, {39, 30}};
    const Shape part{36, 28};
    for (const char* dist : {"(BLOCK, *)", "(CYCLIC(3), BLOCK)", "(BALANCED, CYCLIC)"})
        for (const bool writing : {true, false})
            for (const std::int64_t writers : {1, 3, 6}) {
                const bool both = dist[1] != 'B' || dist[2] == 'A';
                const Layout layout(part, dist, both ? Shape{2, 3} : Shape{6});
                const Rounds rounds(array, region, writers, 700, {1, 0});
                for (std::int64_t k = 0; k < rounds.count(); ++k) {
                    std::vector<IndexBox> all(6, IndexBox{{0, 0}, {0, 0}});
                    for (std::int64_t w = 0; w < rounds.writers(); ++w)
                        all[static_cast<std::size_t>(w * 6 / rounds.writers())] =
                            zarr::relative(rounds.box(w, k), region.start);
                    const Layout files = Layout::boxes(part, all);
                    for (std::int64_t rank = 0; rank < 6; ++rank) {
                        const store::RoundBoxes boxes(rounds, layout, {}, region,
                                                      {6, rank, writing});
                        plan::Options options;
                        options.strategy = "direct";
                        options.partial = options.same_ranks = true;
                        const auto plan = [&](const Layout& to) {
                            return writing ? Plan(layout, to, options) : Plan(to, layout, options);
                        };
                        const Plan own = plan(boxes.layout(k)), whole = plan(files);
                        EXPECT_EQ(own.sends(rank), whole.sends(rank));
                        EXPECT_EQ(own.recvs(rank), whole.recvs(rank));
                        EXPECT_EQ(boxes.own(k), rounds.box(boxes.writer_at(rank), k));
                    }
                }
            }
}

// One process's part of a plan of a million processes and a million shards, by peers.
TEST(RoundBoxes, OfAMillionProcessesAndShardsCostByPeers) {
    constexpr std::int64_t million = 1000000;
    const zarr::Metadata array = array_of({million, 1024}, {1, 512}, {1, 1024});
    const IndexBox region = zarr::whole_of(array.shape);
    const Layout layout({million, 1024}, "(BLOCK, *)", {million});
    double least = 1;
    for (int attempt = 0; attempt < 5 && least > 0.010; ++attempt) {
        const auto began = std::chrono::steady_clock::now();
        const Rounds rounds(array, region, million, 1 << 20);
        const store::RoundBoxes boxes(rounds, layout, {}, region, {million, 777777, true});
        plan::Options options;
        options.strategy = "direct";
        options.partial = options.same_ranks = true;
        const Plan plan(layout, boxes.layout(0), options);
        const auto sends = plan.sends(777777), receives = plan.recvs(777777);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        least = std::min(least, took.count());
        EXPECT_EQ(sends, (std::vector<plan::Traffic>{{777777, 1024}}));
        EXPECT_EQ(receives, sends);
        EXPECT_EQ(boxes.layout(0).form().boxes->held().count(), 1);
    }
    EXPECT_LT(least, 0.010);
}

TEST(Rounds, OfAMillionWritersAreFoundAtOnce) {
    const zarr::Metadata array = array_of({1000000, 1024}, {1, 512}, {1, 1024});
    const auto began = std::chrono::steady_clock::now();
    const Rounds rounds(array, zarr::whole_of(array.shape), 1000000, 1 << 20);
    EXPECT_EQ(rounds.box(999999, 0).start, (Shape{999999, 0}));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    EXPECT_LT(took.count(), 0.010);
}

}  // namespace
