// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/region.hpp"

namespace {

using hocket::Region;

char memory[1 << 16];
char* const middle = memory + (1 << 15);

struct Box {
    std::vector<std::int64_t> extents, strides;
    std::int64_t offset, itemsize;
    Region region() const { return {middle + offset, extents, strides, itemsize}; }
    std::set<std::int64_t> bytes() const {
        std::set<std::int64_t> places{offset};
        for (std::size_t d = 0; d < extents.size(); ++d) {
            std::set<std::int64_t> more;
            for (const std::int64_t at : places)
                for (std::int64_t i = 0; i < extents[d]; ++i) more.insert(at + i * strides[d]);
            places = more;
        }
        std::set<std::int64_t> out;
        for (const std::int64_t at : places)
            for (std::int64_t i = 0; i < itemsize; ++i) out.insert(at + i);
        return out;
    }
};

TEST(Region, overlaps_where_bytes_are_shared) {
    std::mt19937 random(7);
    const auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    const auto box = [&] {
        Box made{{}, {}, pick(0, 60), pick(1, 4)};
        for (int d = pick(0, 3); d > 0; --d) {
            made.extents.push_back(pick(0, 12) == 0 ? 0 : pick(1, 4));
            made.strides.push_back(pick(0, 2) == 0 ? pick(-30, 30) : (pick(0, 1) ? 8 : 40));
        }
        return made;
    };
    int meet = 0;
    for (int i = 0; i < 4000; ++i) {
        const Box a = box(), b = box();
        const auto mine = a.bytes(), others = b.bytes();
        bool expected = false;
        for (const std::int64_t byte : mine) expected = expected || others.count(byte) != 0;
        meet += expected;
        EXPECT_EQ(a.region().overlaps(b.region()), expected)
            << a.region().text() << " and " << b.region().text();
        EXPECT_EQ(b.region().overlaps(a.region()), expected);
        EXPECT_TRUE(a.region() == a.region());
        if (a.region() == b.region()) {
            EXPECT_EQ(mine, others);
            EXPECT_EQ(a.region().hash(), b.region().hash());
        }
    }
    EXPECT_GT(meet, 500);
    EXPECT_LT(meet, 3500);
}

TEST(Region, equal_memory_is_equal_however_it_is_described) {
    const std::int64_t square[] = {4, 8}, dense[] = {64, 8}, flat[] = {32}, item[] = {8},
                       back[] = {-8};
    EXPECT_TRUE(Region(memory, square, dense, 8) == Region(memory, 256));
    EXPECT_TRUE(Region(memory, flat, item, 8) == Region(memory, 256));
    EXPECT_TRUE(Region(memory + 248, flat, back, 8) == Region(memory, 256));
}

TEST(Region, keys_are_their_names) {
    EXPECT_TRUE(Region::key("a") == Region::key("a"));
    EXPECT_TRUE(Region::key("a").overlaps(Region::key("a")));
    EXPECT_FALSE(Region::key("a").overlaps(Region::key("b")));
    EXPECT_FALSE(Region::key("a").overlaps(Region(memory, 8)));
    EXPECT_EQ(Region::key("a").text(), "'a'");
}

TEST(Region, a_digest_sees_every_byte) {
    const std::int64_t extents[] = {3, 2}, strides[] = {40, 9};
    const Region region(memory, extents, strides, 5);
    const auto before = region.digest();
    for (const std::int64_t at : {0, 4, 9, 40, 93}) {
        ++memory[at];
        EXPECT_NE(region.digest(), before) << at;
        --memory[at];
    }
    ++memory[7];
    EXPECT_EQ(region.digest(), before);
    --memory[7];
}

// Each byte of the border is in one box, none of the inside in any.
void check_border(const std::vector<std::int64_t>& extents,
                  const std::vector<std::int64_t>& strides,
                  const std::vector<std::int64_t>& width) {
    const auto sides = hocket::border(middle, extents, strides, 4, width);
    std::vector<std::int64_t> inside, index(extents.size(), 0);
    const char* first = middle;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        inside.push_back(extents[d] - 2 * width[d]);
        first += width[d] * strides[d];
    }
    const Region within(first, inside, strides, 4);
    for (const Region& side : sides) EXPECT_FALSE(side.overlaps(within)) << side.text();
    for (bool more = true; more;) {
        const char* at = middle;
        bool in_border = false;
        for (std::size_t d = 0; d < extents.size(); ++d) {
            at += index[d] * strides[d];
            in_border |= index[d] < width[d] || index[d] >= extents[d] - width[d];
        }
        const Region item(at, 4);
        const auto meets = [&](const Region& side) { return side.overlaps(item); };
        EXPECT_EQ(std::ranges::count_if(sides, meets), in_border ? 1 : 0);
        more = false;
        for (std::size_t d = 0; d < extents.size() && !more; ++d) {
            more = ++index[d] < extents[d];
            if (!more) index[d] = 0;
        }
    }
}

TEST(Region, a_border_is_boxes_that_share_nothing) {
    check_border({7}, {4}, {2});
    check_border({4, 5}, {20, 4}, {1, 1});
    check_border({4, 5}, {4, 16}, {1, 2});
    check_border({5, 6, 4}, {96, 16, 4}, {1, 2, 0});
    check_border({5, 6, 4}, {4, 20, 120}, {2, 1, 1});
    const std::vector<std::int64_t> extents{0, 6}, strides{24, 4}, width{0, 1}, too_few{1};
    for (const Region& side : hocket::border(middle, extents, strides, 4, width))
        EXPECT_TRUE(side.empty());
    EXPECT_THROW(hocket::border(middle, extents, strides, 4, too_few), hocket::Error);
}

TEST(Region, what_cannot_be_is_told) {
    const std::int64_t two[] = {2, 2}, one[] = {8}, negative[] = {-1},
                       far[] = {std::int64_t{1} << 62}, wide[] = {16};
    EXPECT_THROW(Region(memory, -1), hocket::Error);
    EXPECT_THROW(Region(memory, two, one, 8), hocket::Error);
    EXPECT_THROW(Region(memory, negative, one, 8), hocket::Error);
    EXPECT_THROW(Region(memory, one, one, 0), hocket::Error);
    EXPECT_THROW(Region(memory, far, wide, 8), hocket::Error);
}

}  // namespace
