// SPDX-License-Identifier: BSD-3-Clause
// Plans of a million processes with blocks of any extents, and with boxes.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>

#include "hocket/plan.hpp"
#include "layout/form.hpp"
#include "unit/watched.hpp"

namespace {

using hocket::Format;
using hocket::IndexBox;
using hocket::Layout;
using hocket::Shape;
using hocket::layout::unflatten;
using hocket::testing::by_sanitizer;

/// Time goes by peers: a million processes take no longer than a thousand would. Sanitizers see
/// 8000.
TEST(Ownership, one_process_of_a_million_plans_alone) {
    constexpr std::int64_t side = by_sanitizer(100, 20), processes = side * side * side;
    std::mt19937_64 random(7);
    std::uniform_int_distribution<std::int64_t> up_to_8(0, 8);
    std::vector<std::int64_t> extents(processes);
    std::int64_t total = 0;
    for (std::int64_t& extent : extents) total += extent = up_to_8(random);
    const Layout blocks({total}, {Format::gen_block(extents)}, {processes});
    const Layout even({total}, "(BALANCED)", {processes});
    std::vector<IndexBox> bricks;
    for (std::int64_t r = 0; r < processes; ++r) {
        const Shape at = unflatten(r, Shape{side, side, side});
        bricks.push_back(
            {{4 * at[0], 4 * at[1], 4 * at[2]}, {4 * at[0] + 4, 4 * at[1] + 4, 4 * at[2] + 4}});
    }
    const Layout boxes = Layout::boxes({4 * side, 4 * side, 4 * side}, bricks);
    const Layout grid(boxes.shape(),
                      "(BALANCED, BLOCK(" + std::to_string(4 * side / 10) + "), CYCLIC(3))",
                      {4 * side / 5, 10, side});
    for (const auto& [source, destination] :
         {std::pair(blocks, even), std::pair(even, blocks), std::pair(boxes, grid),
          std::pair(grid, boxes), std::pair(boxes, boxes.relabeled([] {
              std::vector<std::int64_t> ranks(processes);
              for (std::int64_t r = 0; r < processes; ++r)
                  ranks[static_cast<std::size_t>(r)] = (r * 7 + 3) % processes;
              return ranks;
          }()))}) {
        hocket::plan::Options options;
        options.strategy = "direct";
        const hocket::Plan plan(source, destination, options);
        auto quickest = std::chrono::steady_clock::duration::max();
        for (const std::int64_t rank : {std::int64_t{0}, source.size() / 3, source.size() - 1}) {
            const auto began = std::chrono::steady_clock::now();
            const hocket::Plan own(source, destination, options);
            const auto peers = own.sends(rank).size() + own.recvs(rank % destination.size()).size();
            quickest = std::min(quickest, std::chrono::steady_clock::now() - began);
            EXPECT_LT(peers, 1000u);
            std::int64_t sent = 0;
            for (const auto& [process, elements] : plan.sends(rank)) {
                sent += elements;
                const auto back = plan.recvs(process);
                EXPECT_TRUE(std::any_of(back.begin(), back.end(), [&](const auto& traffic) {
                    return traffic.process == rank && traffic.elements == elements;
                }));
            }
            EXPECT_EQ(sent, source.local_elements(rank));
        }
        if (!hocket::testing::sanitizing) {
            EXPECT_LT(quickest, std::chrono::milliseconds(1));
        }
    }
}

}  // namespace
