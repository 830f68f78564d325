// SPDX-License-Identifier: BSD-3-Clause
// Plans of remaps carried out by a plain loop over all processes, at more of them than MPI starts
// here; and the order in which pairs meet.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <set>

#include "hocket/remap.hpp"
#include "layout/arrangement.hpp"
#include "remap/exchange_inplace.hpp"
#include "remap/remap_plan.hpp"
#include "unit/watched.hpp"

namespace hocket::remap {
namespace {

using Values = std::vector<std::int64_t>;

std::int64_t place_of(const Shape& index, const Shape& shape) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < index.size(); ++d) place = place * shape[d] + index[d];
    return place;
}

/// Calls visit(global index) for the local elements of a process, in order.
template <class Visit>
void each_element(const Layout& layout, std::int64_t rank, Visit visit) {
    const auto indices = layout.global_indices(rank);
    std::int64_t count = 1;
    for (const auto& list : indices) count *= static_cast<std::int64_t>(list.size());
    Shape index(indices.size());
    for (std::int64_t n = 0; n < count; ++n) {
        std::int64_t rest = n;
        for (std::size_t d = indices.size(); d-- > 0;) {
            const auto extent = static_cast<std::int64_t>(indices[d].size());
            index[d] = indices[d][static_cast<std::size_t>(rest % extent)];
            rest /= extent;
        }
        visit(index);
    }
}

/// The effect of an exchange, by copies.
void exchange_all(std::vector<Values>& memory, const std::vector<RemapPlan>& plans,
                  std::size_t stage) {
    const std::vector<Values> before = memory;
    const auto offset = [](const Values& sizes, std::size_t q) {
        return std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(q),
                               std::int64_t{0});
    };
    for (std::size_t r = 0; r < plans.size(); ++r) {
        const RemapStage& own = plans[r].stages[stage];
        if (own.members.empty()) continue;
        ASSERT_EQ(own.members[own.own], static_cast<int>(r));
        for (std::size_t q = 0; q < own.members.size(); ++q) {
            const auto peer = static_cast<std::size_t>(own.members[q]);
            const RemapStage& other = plans[peer].stages[stage];
            ASSERT_FALSE(other.members.empty());
            ASSERT_EQ(own.receives[q], other.sends[own.own]);
            if (own.receives[q] == 0) continue;  // the memory may have no address
            ASSERT_EQ(own.rows, other.rows);
            const std::int64_t rows = own.rows, run = own.receives[q] / rows;
            const auto pitch = rows == 1 ? 0 : run * static_cast<std::int64_t>(own.members.size());
            for (std::int64_t row = 0; row < rows; ++row)
                std::memcpy(reinterpret_cast<std::byte*>(memory[r].data()) +
                                offset(own.receives, q) / rows + row * pitch,
                            reinterpret_cast<const std::byte*>(before[peer].data()) +
                                offset(other.sends, own.own) / rows + row * pitch,
                            static_cast<std::size_t>(run));
        }
    }
}

void check(const Layout& layout, const Shape& axes, const std::string& methods = {}) {
    SCOPED_TRACE(layout.text() + " " + methods);
    const Layout wanted = layout::remapped(layout, axes);
    std::vector<RemapPlan> plans;
    std::vector<Values> memory;
    for (std::int64_t r = 0; r < layout.size(); ++r) {
        plans.push_back(plan_remap(layout, axes, r, 8, 1, methods));
        ASSERT_EQ(plans.back().room, 8 * remap_room(layout, axes, r));
        Values& local = memory.emplace_back();
        each_element(layout, r,
                     [&](const Shape& at) { local.push_back(place_of(at, layout.shape())); });
        ASSERT_LE(8 * static_cast<std::int64_t>(local.size()), plans.back().room);
        local.resize(static_cast<std::size_t>(plans.back().room / 8));
    }
    std::size_t stages = 0;
    for (const RemapPlan& plan : plans) stages = std::max(stages, plan.stages.size());
    for (std::size_t k = 0; k < stages; ++k) {
        for (std::size_t r = 0; r < plans.size(); ++r) {
            if (k >= plans[r].stages.size()) plans[r].stages.emplace_back();
            for (const auto& [offset, work] : plans[r].stages[k].permutations)
                work.run(reinterpret_cast<std::byte*>(memory[r].data()) + offset);
        }
        exchange_all(memory, plans, k);
    }
    for (std::int64_t r = 0; r < wanted.size(); ++r) {
        std::size_t n = 0;
        Shape source(axes.size());
        each_element(wanted, r, [&](const Shape& at) {
            for (std::size_t d = 0; d < at.size(); ++d)
                source[static_cast<std::size_t>(axes[d])] = at[d];
            ASSERT_EQ(memory[static_cast<std::size_t>(r)][n++], place_of(source, layout.shape()));
        });
    }
}

TEST(RemapPlan, GivesTheTransposedArray) {
    for (const std::int64_t procs : {1, 2, 3, 5, 7, 8, 16, 31}) {
        for (const char* dist : {"(BLOCK, *, *)", "(*, BLOCK, *)", "(*, *, BLOCK)"}) {
            for (const Shape& shape : {Shape{16, 32, 3}, Shape{17, 9, 5}, Shape{1, 40, 2}}) {
                Shape axes{0, 1, 2};
                do check(Layout(shape, dist, {procs}), axes);
                while (std::next_permutation(axes.begin(), axes.end()));
            }
        }
    }
}

TEST(RemapPlan, ArrangementsOfSeveralDimensions) {
    for (const Shape& procs : {Shape{2, 2, 2}, Shape{2, 3, 4}, Shape{4, 1, 3}}) {
        if (hocket::testing::sanitizing && procs[1] != 2) continue;  // they take seconds
        for (const Shape& shape : {Shape{8, 12, 6, 24}, Shape{5, 7, 3, 9}}) {
            Shape axes{0, 1, 2, 3};
            do {
                check(Layout(shape, "(BLOCK, BLOCK, *, BLOCK)", procs), axes);
                check(Layout(shape, "(*, BLOCK, BLOCK, BLOCK)", procs), axes);
            } while (std::next_permutation(axes.begin(), axes.end()));
        }
    }
}

TEST(RemapPlan, CyclicDimensionsInWholeRounds) {
    for (const std::int64_t procs : {1, 2, 3}) {
        const Shape shape{12 * procs, 24 * procs, 12 * procs};
        Shape axes{0, 1, 2};
        do {
            check(Layout(shape, "(CYCLIC, *, *)", {procs}), axes);
            check(Layout(shape, "(*, CYCLIC(3), *)", {procs}), axes);
            check(Layout(shape, "(CYCLIC(2), *, BLOCK)", {procs, 2}), axes);
            check(Layout(shape, "(CYCLIC, *, CYCLIC(2))", {2, procs}), axes);
        } while (std::next_permutation(axes.begin(), axes.end()));
    }
    check(Layout({12, 24}, "(CYCLIC(2), CYCLIC(2))", {3, 3}), {1, 0});
    // Nothing is dealt out otherwise, so that no dimension has to be even.
    check(Layout({5, 7}, "(CYCLIC(2), CYCLIC(2))", {3, 3}), {1, 0});
    check(Layout({0, 6, 2}, "(CYCLIC, *, *)", {3}), {1, 0, 2});
}

TEST(RemapPlan, EvenChunksGoFromWhereTheyLie) {
    for (const std::int64_t procs : {2, 3, 4})
        for (const char* dist : {"(BLOCK, *, *)", "(*, BLOCK, *)", "(*, *, BLOCK)"}) {
            const Layout layout(Shape{24, 36, 48}, dist, {procs});
            Shape axes{0, 1, 2};
            do check(layout, axes);
            while (std::next_permutation(axes.begin(), axes.end()));
        }
    // One turn of the whole array instead of two, after an exchange of 16 runs a chunk.
    const Layout layout(Shape{64, 512, 64}, "(BLOCK, *, *)", {4});
    const RemapPlan plan = plan_remap(layout, Shape{1, 0, 2}, 1, 8, 1);
    ASSERT_EQ(plan.stages.size(), 2u);
    EXPECT_TRUE(plan.stages[0].permutations.empty());
    EXPECT_EQ(plan.stages[0].rows, 16);
    EXPECT_EQ(plan.stages[1].permutations.size(), 1u);
    check(Layout({8, 12, 6, 64}, "(BLOCK, BLOCK, *, *)", {2, 3}), {2, 1, 0, 3});
}

TEST(RemapPlan, ProcessesCanTakeTheWaysOfAnother) {
    const Layout layout(Shape{12, 24, 5}, "(BLOCK, *, *)", {3});
    for (const char* methods : {"ar", "a-", "cr", "c-", "dr", "d-"}) {
        for (const Shape& axes : {Shape{1, 0, 2}, Shape{1, 2, 0}}) {
            EXPECT_EQ(plan_remap(layout, axes, 1, 8, 1, methods).methods, methods);
            check(layout, axes, methods);
        }
    }
}

TEST(RemapPlan, ExtentsOfNoElements) {
    check(Layout({0, 3, 2}, "(BLOCK, *, *)", {3}), {1, 0, 2});
    check(Layout({4, 0}, "(BLOCK, *)", {3}), {1, 0});
    check(Layout({}, "()", {}), {});
}

TEST(Exchange, SurplusesNeverFlowInACircle) {
    std::mt19937 random(1);
    for (int n = 0; n < 300; ++n) {
        const std::int64_t procs = 2 + static_cast<std::int64_t>(random() % 9);
        const Layout layout({1 + static_cast<std::int64_t>(random() % 30),
                             1 + static_cast<std::int64_t>(random() % 30)},
                            "(BLOCK, *)", {procs});
        // Whoever has sent all its surplus is done with; none left must mean all are.
        std::vector<RemapStage> all;
        for (std::int64_t r = 0; r < procs; ++r)
            all.push_back(plan_remap(layout, Shape{1, 0}, r, 1, 1).stages.front());
        std::set<std::size_t> left;
        for (std::size_t r = 0; r < all.size(); ++r) left.insert(r);
        while (!left.empty()) {
            const auto free = std::find_if(left.begin(), left.end(), [&](std::size_t r) {
                return std::none_of(left.begin(), left.end(), [&](std::size_t q) {
                    return all[r].sends[q] > all[r].receives[q];
                });
            });
            ASSERT_NE(free, left.end()) << layout.text();
            left.erase(free);
        }
    }
}

TEST(Exchange, EveryoneMeetsEveryoneOnce) {
    for (int players = 1; players <= 33; ++players) {
        std::set<std::pair<int, int>> met;
        for (int round = 0; round < rounds(players); ++round) {
            for (int own = 0; own < players; ++own) {
                const int partner = partner_in_round(own, players, round);
                if (partner < 0) continue;
                ASSERT_NE(partner, own);
                ASSERT_LT(partner, players);
                ASSERT_EQ(partner_in_round(partner, players, round), own);
                ASSERT_TRUE(met.insert({own, partner}).second);
            }
        }
        ASSERT_EQ(met.size(), static_cast<std::size_t>(players * (players - 1)));
    }
}

TEST(Arrangement, RefusesWhatHasNoTextThatCouldStay) {
    const auto refused = [](const Layout& layout, const Shape& axes) {
        EXPECT_THROW(static_cast<void>(remap_layout(layout, axes)), LayoutError) << layout.text();
    };
    refused(Layout({4, 5}, "(CYCLIC, *)", {2}), {1, 0});
    refused(Layout({5, 4}, "(CYCLIC, *)", {2}), {1, 0});
    refused(Layout({4, 6}, "(CYCLIC(2), *)", {2}), {1, 0});
    refused(Layout({4, 6}, "(BLOCK(2), *)", {2}), {1, 0});
    refused(Layout({4, 6}, "(BLOCK, BLOCK)", {2, 3}), {1, 0});
    refused(Layout({4, 6}, "(BLOCK, *)", {2}), {1, 1});
    refused(Layout({4, 6}, "(BLOCK, *)", {2}), {0});
    refused(Layout::indexed({4}, {{{0, 2}}, {{2, 2}}}), {0});
    EXPECT_EQ(remap_layout(Layout({4, 6}, "(BLOCK(3), *)", {2}), Shape{1, 0}).shape(),
              (Shape{6, 4}));
}

}  // namespace
}  // namespace hocket::remap
