// SPDX-License-Identifier: BSD-3-Clause
// Steps that reduce into one region at the same time.
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/flow.hpp"
#include "hocket/region.hpp"
#include "steps.hpp"

namespace {

using hocket::Flow;
using hocket::reads;
using hocket::reduces;
using hocket::Region;

TEST(Flow, reductions_have_parts_of_their_own) {
    Flow flow(hocket::tests::with(4));
    std::vector<long> sum(5, 100);
    long total = 0;
    for (long i = 0; i < 300; ++i)
        flow.task(
            [i](hocket::flow::Here& here) {
                long* part = here.part_of<long>(0);
                for (int k = 0; k < 5; ++k) part[k] += i + k;
            },
            {reduces(std::span<long>(sum), std::plus<>(), 0L)});
    flow.task([&] { total = sum[4]; }, {reads(std::span<long>(sum))});
    flow.wait();
    EXPECT_EQ(total, 100 + 300 * 299 / 2 + 300 * 4);
}

TEST(Flow, reductions_into_strided_memory) {
    // Every second column of a grid: 2 x 3 of 2 x 6 elements.
    std::vector<long> grid(12, 7);
    const std::vector<std::int64_t> extents{2, 3}, strides{48, 16};
    const Region columns(grid.data(), extents, strides, sizeof(long));
    Flow flow(hocket::tests::with(4));
    for (long i = 0; i < 50; ++i)
        flow.task(
            [](hocket::flow::Here& here) {
                for (long k = 0; k < 6; ++k) here.part_of<long>(0)[k] += k;
            },
            {reduces(columns, std::plus<>(), 0L)});
    flow.wait();
    for (std::size_t i = 0; i < 12; ++i)
        EXPECT_EQ(grid[i], i % 2 == 1 ? 7 : 7 + 50 * static_cast<long>(i / 2)) << i;
    const std::vector<std::int64_t> close{8, 8};
    EXPECT_THROW(reduces(Region(grid.data(), extents, close, sizeof(long)), std::plus<>(), 0L),
                 hocket::Error);
    EXPECT_THROW(reduces(Region::key("k"), std::plus<>(), 0L), hocket::Error);
}

}  // namespace
