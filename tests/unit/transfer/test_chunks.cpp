// SPDX-License-Identifier: BSD-3-Clause
// Messages cut into parts: between arrays, and through a buffer that holds a part at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "hocket/plan.hpp"
#include "kernel/stream.hpp"
#include "plan/box.hpp"
#include "transfer/cut.hpp"
#include "transfer/schedule.hpp"

namespace hocket::transfer {
namespace {

using Values = std::vector<double>;

struct Pair {
    Shape shape;
    std::string from, to;
    std::int64_t senders = 2, receivers = 2;
};

Layout laid_out(const Shape& shape, const std::string& dist, std::int64_t processes) {
    return {shape, dist, {processes}};
}

std::size_t size_of(const Layout& layout, std::int64_t rank) {
    return static_cast<std::size_t>(layout.local_elements(rank));
}

/// The message from one process to another; itemsize of a double.
MessageBoxes message_of(const Plan& plan, std::int64_t sender, std::int64_t receiver) {
    const plan::Part part = plan.part(Side::source, sender);
    const auto& peers = part.peers();
    const auto at = std::find_if(peers.begin(), peers.end(), [&](const plan::Traffic& peer) {
        return peer.process == receiver;
    });
    if (at == peers.end()) return {};
    return {part.boxes(static_cast<std::size_t>(at - peers.begin())), sizeof(double),
            dense_strides(plan.source().local_shape(sender), sizeof(double)),
            dense_strides(plan.destination().local_shape(receiver), sizeof(double))};
}

Values numbered(std::size_t size) {
    Values values(size);
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

/// The number of the element at that index.
std::size_t at(const Shape& index, const Shape& strides) {
    const std::int64_t offset =
        std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
    return static_cast<std::size_t>(offset) / sizeof(double);
}

/// Element by element, by the loops of the boxes.
Values moved(const MessageBoxes& message, const Values& source, std::size_t size) {
    Values target(size, 0);
    for (const plan::Box& box : message.boxes) {
        for (std::int64_t element = 0; element < plan::count(box); ++element) {
            Shape from = box.source_first, to = box.destination_first;
            std::int64_t left = element;
            for (auto loop = box.loops.rbegin(); loop != box.loops.rend(); ++loop) {
                from[static_cast<std::size_t>(loop->source_dimension)] +=
                    left % loop->extent * loop->source_step;
                to[static_cast<std::size_t>(loop->destination_dimension)] +=
                    left % loop->extent * loop->destination_step;
                left /= loop->extent;
            }
            target[at(to, message.destination)] = source[at(from, message.source)];
        }
    }
    return target;
}

const std::byte* bytes(const Values& values) {
    return reinterpret_cast<const std::byte*>(values.data());
}
std::byte* bytes(Values& values) {
    return reinterpret_cast<std::byte*>(values.data());
}

void check(const MessageBoxes& message, const Values& source, std::size_t size,
           std::int64_t part_bytes) {
    SCOPED_TRACE("parts of " + std::to_string(part_bytes) + " bytes");
    const Values expected = moved(message, source, size);
    const Chunks between = cut(message, Chunks::Kind::between, part_bytes);
    const Chunks packing = cut(message, Chunks::Kind::packing, part_bytes);
    const Chunks unpacking = cut(message, Chunks::Kind::unpacking, part_bytes);
    ASSERT_EQ(packing.size(), unpacking.size());
    ASSERT_EQ(packing.size(), between.size());
    EXPECT_EQ(packing.bytes(), message.bytes());
    const std::int64_t most = std::max<std::int64_t>(part_bytes, sizeof(double));
    EXPECT_LE(packing.largest(), most);

    std::vector<std::uint64_t> order(between.size());
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(5));
    Values direct(size, 0), through(size, 0);
    std::int64_t all = 0;
    for (const std::uint64_t part : order) {
        between.run(part, bytes(source), bytes(direct));
        ASSERT_EQ(packing.bytes_of(part), unpacking.bytes_of(part));
        all += packing.bytes_of(part);
        Values buffer(static_cast<std::size_t>(packing.bytes_of(part)) / sizeof(double), -1);
        packing.run(part, bytes(source), bytes(buffer));
        unpacking.run(part, bytes(buffer), bytes(through));
    }
    EXPECT_EQ(all, message.bytes());
    EXPECT_EQ(direct, expected);
    EXPECT_EQ(through, expected);
}

TEST(Chunks, MoveEveryElementWhateverTheirSize) {
    const std::vector<Pair> pairs = {
        {{1000}, "(CYCLIC(3))", "(CYCLIC(7))"},
        {{997}, "(CYCLIC(5))", "(BLOCK)", 3, 2},
        {{1001}, "(BLOCK)", "(CYCLIC(4))", 2, 5},
        {{400}, "(CYCLIC)", "(CYCLIC(9))", 4, 3},
        {{37, 41}, "(CYCLIC(3), *)", "(*, CYCLIC(2))", 3, 2},
        {{37, 41}, "(*, CYCLIC(6))", "(*, CYCLIC(4))"},
        {{48, 50}, "(BLOCK, *)", "(*, BLOCK)", 3, 3},
        {{6, 31, 9}, "(*, CYCLIC(5), *)", "(*, *, CYCLIC(2))", 2, 3},
    };
    for (const Pair& pair : pairs) {
        SCOPED_TRACE(pair.from + " -> " + pair.to);
        const Layout from = laid_out(pair.shape, pair.from, pair.senders);
        const Layout to = laid_out(pair.shape, pair.to, pair.receivers);
        const Plan plan(from, to);
        for (std::int64_t s = 0; s < pair.senders; ++s)
            for (std::int64_t r = 0; r < pair.receivers; ++r) {
                const MessageBoxes message = message_of(plan, s, r);
                if (message.boxes.empty()) continue;
                const Values source = numbered(size_of(from, s));
                for (const std::int64_t size : {1, 8, 40, 200, 1000, 4096, 1 << 20})
                    check(message, source, size_of(to, r), size);
                if (HasFailure()) return;
            }
    }
}

// Else each box is a way through all of memory of its own.
TEST(Chunks, WhatLiesTogetherIsMovedTogether) {
    const Shape shape{42'000};
    const Layout from = laid_out(shape, "(CYCLIC(3))", 2);
    const Layout to = laid_out(shape, "(CYCLIC(7))", 2);
    const Plan plan(from, to);
    for (std::int64_t receiver = 0; receiver < 2; ++receiver) {
        const MessageBoxes message = message_of(plan, 0, receiver);
        ASSERT_GT(message.boxes.size(), 1U);
        const Chunks parts = cut(message, Chunks::Kind::between, message.bytes() / 20);
        const Values source = numbered(size_of(from, 0));
        Values target(size_of(to, receiver), 0);
        for (std::uint64_t part = 0; part < parts.size() / 4; ++part)
            parts.run(part, bytes(source), bytes(target));
        const auto half = target.begin() + static_cast<std::ptrdiff_t>(target.size() / 2);
        EXPECT_TRUE(std::any_of(target.begin(), half, [](double each) { return each != 0; }));
        EXPECT_TRUE(std::all_of(half, target.end(), [](double each) { return each == 0; }));
    }
}

Schedule schedule_of(std::int64_t processes, std::int64_t process) {
    const Shape shape{96, 96};
    const Layout rows = laid_out(shape, "(BLOCK, *)", processes),
                 columns = laid_out(shape, "(*, BLOCK)", processes);
    plan::Options options;
    for (std::int64_t each = 0; each < processes; ++each) options.overlap.push_back(each);
    LocalView from, to;
    from.process = to.process = process;
    from.strides = dense_strides(rows.local_shape(process), sizeof(double));
    to.strides = dense_strides(columns.local_shape(process), sizeof(double));
    options.itemsize = sizeof(double);
    return plan_schedule(Plan(rows, columns, options), from, to);
}

// Each of 16 processes' 15 messages is short beside the caches, but not all of them together.
TEST(Messages, KnowTheBytesOfAll) {
    constexpr std::int64_t block = 96 / 4 * 96 / 4 * sizeof(double);
    const Schedule of_four = schedule_of(4, 1);
    ASSERT_EQ(of_four.receives.size(), 3u);
    for (const auto& each : of_four.receives) EXPECT_EQ(each.bytes_of_many, 4 * block);
    for (const auto& each : of_four.sends) EXPECT_EQ(each.bytes_of_many, 3 * block);
    const Schedule of_two = schedule_of(2, 1);
    ASSERT_EQ(of_two.receives.size(), 1u);
    EXPECT_EQ(of_two.receives[0].bytes_of_many, 0);
}

TEST(Stores, BypassTheCachesForManyMessages) {
    using kernel::Stores;
    const std::int64_t least = kernel::least_streamed_bytes();
    EXPECT_EQ(transport::stores_for(least / 16), Stores::cached);
    EXPECT_EQ(transport::stores_for(least / 16, least / 4), Stores::cached);
    EXPECT_EQ(transport::stores_for(least / 16, least), Stores::streaming);
    EXPECT_EQ(transport::stores_for(least), Stores::streaming);
}

}  // namespace
}  // namespace hocket::transfer
