// SPDX-License-Identifier: BSD-3-Clause
// Partitions, boxes and lists against a look at every index.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "hocket/layout.hpp"
#include "layout/box_index.hpp"
#include "layout/form.hpp"

namespace {

using hocket::Format;
using hocket::IndexBox;
using hocket::Layout;
using hocket::Shape;
using namespace hocket::layout;

std::mt19937_64 random_numbers(7);

std::int64_t choose(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_numbers);
}

/// The owner of each position, and a partition that should say the same.
void expect_owners(const Partition& partition, const std::vector<std::int64_t>& owners,
                   std::int64_t coordinates) {
    const auto extent = static_cast<std::int64_t>(owners.size());
    ASSERT_EQ(partition.extent(), extent);
    for (std::int64_t i = 0; i < extent; ++i)
        ASSERT_EQ(partition.owner(i), owners[static_cast<std::size_t>(i)]) << i;
    for (std::int64_t first = 0; first <= coordinates; ++first) {
        for (std::int64_t last = first; last <= coordinates; ++last) {
            const std::int64_t low = choose(0, extent), high = choose(0, extent);
            std::set<std::int64_t> expected, found;
            for (std::int64_t i = low; i < high; ++i)
                if (owners[static_cast<std::size_t>(i)] >= first &&
                    owners[static_cast<std::size_t>(i)] < last)
                    expected.insert(i);
            std::int64_t end = -1;
            for (const Run& run : partition.owned(first, last, low, high)) {
                EXPECT_GT(run.first, end) << "runs are increasing and apart";
                end = run.first + run.length;
                for (std::int64_t i = run.first; i < end; ++i) found.insert(i);
            }
            EXPECT_EQ(found, expected);
        }
    }
}

TEST(Partition, every_kind_owns_what_it_says) {
    for (int round = 0; round < 60; ++round) {
        const std::int64_t extent = choose(0, 20), coordinates = choose(1, 5);
        std::vector<std::int64_t> extents(static_cast<std::size_t>(coordinates)), owners;
        for (std::int64_t left = extent; left > 0; --left)
            ++extents[static_cast<std::size_t>(choose(0, coordinates - 1))];
        for (std::int64_t c = 0; c < coordinates; ++c)
            owners.insert(owners.end(),
                          static_cast<std::size_t>(extents[static_cast<std::size_t>(c)]), c);
        expect_owners(Partition::gen_block(extents), owners, coordinates);
        owners.clear();
        for (std::int64_t c = 0; c < coordinates; ++c)
            owners.insert(
                owners.end(),
                static_cast<std::size_t>(extent / coordinates + (c < extent % coordinates ? 1 : 0)),
                c);
        expect_owners(Partition::balanced(extent, coordinates), owners, coordinates);
        for (std::int64_t& owner : owners) owner = choose(0, coordinates - 1);
        expect_owners(Partition::indirect(owners), owners, coordinates);
    }
}

std::vector<Range> random_box(const Shape& shape) {
    std::vector<Range> box;
    for (const std::int64_t extent : shape) {
        const std::int64_t a = choose(0, extent - 1), b = choose(0, extent - 1);
        box.push_back({std::min(a, b), std::max(a, b) + 1});
    }
    return box;
}

bool holds(std::span<const Range> box, const Shape& index) {
    for (std::size_t d = 0; d < box.size(); ++d)
        if (index[d] < box[d].first || index[d] >= box[d].last) return false;
    return true;
}

TEST(BoxIndex, finds_what_meets_and_gives_each_index_one_sender) {
    for (int round = 0; round < 30; ++round) {
        const Shape shape = round % 2 ? Shape{7, 9} : Shape{5, 4, 6};
        BoxIndex boxes(shape.size());
        const std::int64_t count = choose(1, 60);
        for (std::int64_t k = 0; k < count; ++k) boxes.add(k, random_box(shape));
        boxes.build();
        const std::vector<Range> query = random_box(shape);
        std::set<std::int64_t> found, expected;
        boxes.for_intersecting(query, [&](std::int64_t k) { return found.insert(k).second; });
        for (std::int64_t k = 0; k < count; ++k)
            if (volume(common_box(boxes.box(k), query)) > 0) expected.insert(k);
        EXPECT_EQ(found, expected);

        const BoxIndex senders = senders_of(boxes, shape.size());
        std::map<std::int64_t, int> sent;
        for (std::int64_t place = 0; place < strides_of(shape)[0] * shape[0]; ++place) {
            const Shape index = unflatten(place, shape);
            int held = 0, times = 0;
            for (std::int64_t k = 0; k < count; ++k) held += holds(boxes.box(k), index);
            for (std::int64_t k = 0; k < senders.count(); ++k) {
                if (!holds(senders.box(k), index)) continue;
                ++times;
                EXPECT_TRUE(holds(boxes.box(senders.process(k)), index));
            }
            EXPECT_EQ(times, held > 0 ? 1 : 0);
        }
    }
}

TEST(BoxIndex, holders_of_one_box_share_it_evenly) {
    const Shape shape{30, 41};
    for (const std::int64_t holders : {1, 2, 7, 64}) {
        const std::vector<IndexBox> boxes(static_cast<std::size_t>(holders), {{0, 0}, shape});
        const Layout copies = Layout::boxes(shape, boxes);
        const BoxIndex& senders = copies.form().boxes->sent();
        std::map<std::int64_t, std::int64_t> elements;
        for (std::int64_t k = 0; k < senders.count(); ++k)
            elements[senders.process(k)] += senders.volume(k);
        ASSERT_EQ(std::ssize(elements), holders);
        for (const auto& [process, count] : elements)
            EXPECT_LE(count, 2 * 30 * 41 / holders) << process << " of " << holders;
    }
}

TEST(Ownership, formats_mix_in_a_list) {
    const std::vector<std::int64_t> owners{1, 0, 0, 1}, extents{3, 0, 2};
    const Layout layout({4, 5, 2}, {Format::indirect(owners), Format::gen_block(extents), "*"},
                        {2, 3});
    EXPECT_EQ(layout.dist(), "(INDIRECT(1, 2*0, 1), GEN_BLOCK(3, 0, 2), *)");
    EXPECT_EQ(layout.local_shape(5), (Shape{2, 2, 2}));
    EXPECT_EQ(Layout::parse(layout.text()), layout);
    EXPECT_EQ(layout.form().axes[0].partition, Layout(layout).form().axes[0].partition);
    EXPECT_EQ(Layout({4}, {Format::indirect(owners)}, {2}),
              Layout({4}, "(INDIRECT(1, 0, 0, 1))", {2}));
}

}  // namespace
