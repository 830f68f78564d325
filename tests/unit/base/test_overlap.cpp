// SPDX-License-Identifier: BSD-3-Clause
// Strided boxes that share bytes, against listing every byte.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "base/overlap.hpp"

namespace {

using hocket::base::has_addresses;
using hocket::base::share_bytes;
using hocket::base::StridedBox;

struct Box {
    std::intptr_t start;
    std::vector<std::int64_t> extents, strides;
    std::int64_t itemsize;

    operator StridedBox() const { return {start, extents, strides, itemsize}; }

    std::set<std::intptr_t> bytes() const {
        std::set<std::intptr_t> starts{start};
        for (std::size_t d = 0; d < extents.size(); ++d) {
            std::set<std::intptr_t> more;
            for (const auto at : starts)
                for (std::int64_t i = 0; i < extents[d]; ++i) more.insert(at + i * strides[d]);
            starts = more;
        }
        std::set<std::intptr_t> all;
        for (const auto at : starts)
            for (std::int64_t i = 0; i < itemsize; ++i) all.insert(at + i);
        return all;
    }
};

bool share_by_listing(const Box& a, const Box& b) {
    const auto of_a = a.bytes(), of_b = b.bytes();
    for (const auto at : of_a)
        if (of_b.contains(at)) return true;
    return false;
}

TEST(Overlap, elements_have_addresses) {
    const std::int64_t far = INT64_MAX / 2, farthest = INT64_MIN;
    EXPECT_TRUE(has_addresses(Box{64, {3, 4}, {-32, 8}, 8}));
    EXPECT_FALSE(has_addresses(Box{63, {3, 4}, {-32, 8}, 8}));
    EXPECT_TRUE(has_addresses(Box{64, {1, 4}, {farthest, 8}, 8}));
    EXPECT_TRUE(has_addresses(Box{64, {0, 4}, {far, far}, 8}));
    EXPECT_TRUE(has_addresses(Box{0, {2, 1}, {far, 1}, 8}));
    EXPECT_FALSE(has_addresses(Box{0, {3, 2}, {far, 1}, 8}));
    EXPECT_FALSE(has_addresses(Box{0, {3, 3}, {far, -far}, 8}));
    EXPECT_FALSE(has_addresses(Box{64, {far, far}, {farthest, farthest}, 1}));
}

TEST(Overlap, columns_in_turns_lie_apart) {
    const std::int64_t rows = 100000, columns = 4000, row = 8 * columns;
    const Box even{0, {rows, columns / 2}, {row, 16}, 8};
    const Box odd{8, {rows, columns / 2}, {row, 16}, 8};
    const Box from_behind{(rows - 1) * row + row - 8, {rows, columns / 2}, {-row, -16}, 8};
    EXPECT_FALSE(share_bytes(even, odd));
    EXPECT_FALSE(share_bytes(even, from_behind));
    EXPECT_TRUE(share_bytes(odd, from_behind));
    const Box left{0, {rows, 1000}, {row, 8}, 8}, right{8000, {rows, 3000}, {row, 8}, 8};
    EXPECT_FALSE(share_bytes(left, right));
    const Box wider{0, {rows, 1001}, {row, 8}, 8};
    EXPECT_TRUE(share_bytes(wider, right));
    const Box transposed{8000, {3000, rows}, {8, row}, 8};
    EXPECT_FALSE(share_bytes(left, transposed));
    EXPECT_TRUE(share_bytes(wider, transposed));
}

TEST(Overlap, empty_boxes_share_nothing) {
    const Box all{0, {10}, {8}, 8}, nothing{0, {10, 0}, {8, 8}, 8};
    EXPECT_FALSE(share_bytes(all, nothing));
    EXPECT_TRUE(share_bytes(all, all));
}

TEST(Overlap, random_boxes_against_listing_every_byte) {
    std::mt19937 random(7);
    const auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    int shared = 0;
    for (int turn = 0; turn < 4000; ++turn) {
        Box boxes[2];
        const bool one_array = pick(0, 1) == 1;
        std::vector<std::int64_t> common{pick(1, 12), pick(20, 60), pick(80, 200)};
        for (auto& box : boxes) {
            box.start = pick(0, 150);
            box.itemsize = pick(1, 9);
            for (std::size_t d = 0; d < static_cast<std::size_t>(pick(0, 3)); ++d) {
                box.extents.push_back(pick(0, 20) == 0 ? 0 : pick(1, 5));
                const std::int64_t stride = one_array ? common[d] * pick(1, 2) : pick(-40, 40);
                box.strides.push_back(stride);
            }
        }
        const bool expected = share_by_listing(boxes[0], boxes[1]);
        shared += expected ? 1 : 0;
        ASSERT_EQ(share_bytes(boxes[0], boxes[1]), expected) << "turn " << turn;
        ASSERT_EQ(share_bytes(boxes[1], boxes[0]), expected) << "turn " << turn;
    }
    EXPECT_GT(shared, 500);
    EXPECT_LT(shared, 3500);
}

}  // namespace
