// SPDX-License-Identifier: BSD-3-Clause
// Which process takes which files: every element once, every file by one process, within the
// buffer.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>

#include "hocket/error.hpp"
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

TEST(Rounds, OfAMillionWritersAreFoundAtOnce) {
    const zarr::Metadata array = array_of({1000000, 1024}, {1, 512}, {1, 1024});
    const auto began = std::chrono::steady_clock::now();
    const Rounds rounds(array, zarr::whole_of(array.shape), 1000000, 1 << 20);
    EXPECT_EQ(rounds.box(999999, 0).start, (Shape{999999, 0}));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    EXPECT_LT(took.count(), 0.010);
}

}  // namespace
