// SPDX-License-Identifier: BSD-3-Clause
// The assignment of most weight against every permutation, and relabeling by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "hocket/plan.hpp"
#include "plan/assignment.hpp"

using hocket::Layout;
using hocket::plan::assign;
using hocket::plan::Weight;

namespace {

using Table = std::vector<std::vector<Weight>>;

std::int64_t weight_of(const Table& rows, const std::vector<std::int64_t>& columns) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const Weight& entry : rows[i])
            if (entry.column == columns[i]) sum += entry.weight;
    return sum;
}

/// The most that any assignment weighs: all orders of rows and columns, the longer list cut.
std::int64_t best_of_all(const Table& rows, std::int64_t columns) {
    std::vector<std::int64_t> order(std::max(rows.size(), static_cast<std::size_t>(columns)));
    std::iota(order.begin(), order.end(), 0);
    std::int64_t best = 0;
    do {
        best = std::max(best, weight_of(rows, order));
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

}  // namespace

TEST(Assignment, is_the_best_of_all_permutations) {
    std::mt19937 engine(4);
    const auto below = [&](std::int64_t n) {
        return std::uniform_int_distribution<std::int64_t>(0, n - 1)(engine);
    };
    for (int round = 0; round < 400; ++round) {
        const std::int64_t columns = 1 + below(6), density = 1 + below(4);
        const std::int64_t most = round % 3 == 0 ? 3 : std::int64_t{1} << 62;
        Table rows(static_cast<std::size_t>(1 + below(6)));
        for (auto& row : rows)
            for (std::int64_t c = 0; c < columns; ++c)
                if (below(4) < density) row.push_back({c, below(most) / 6});
        const std::vector<std::int64_t> found = assign(rows, columns);
        ASSERT_EQ(found.size(), rows.size());
        std::set<std::int64_t> taken;
        for (const std::int64_t column : found) {
            ASSERT_LT(column, columns);
            if (column >= 0) {
                ASSERT_TRUE(taken.insert(column).second);
            }
        }
        ASSERT_EQ(weight_of(rows, found), best_of_all(rows, columns));
    }
}

TEST(Assignment, takes_the_own_number_among_equals) {
    const Table rows(3, {{0, 5}, {1, 5}, {2, 5}});
    EXPECT_EQ(assign(rows, 3), (std::vector<std::int64_t>{0, 1, 2}));
    EXPECT_EQ(assign({{}, {}}, 0), (std::vector<std::int64_t>{-1, -1}));
}

TEST(Relabel, undoes_a_rotation) {
    const Layout lay({30}, "(BLOCK)", {3});
    const std::vector<std::int64_t> turn{1, 2, 0};
    const auto found = hocket::relabel(lay, lay.relabeled(turn));
    EXPECT_EQ(found.ranks, (std::vector<std::int64_t>{2, 0, 1}));
    EXPECT_EQ(found.moved, 0);
    EXPECT_EQ(found.moved_without, 30);
    EXPECT_TRUE(lay.relabeled(turn).relabeled(found.ranks) == lay);
    EXPECT_EQ(hocket::relabel(lay, lay).ranks, (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(Relabel, of_a_larger_destination_names_processes_beyond_the_source) {
    const Layout two({12}, "(BLOCK)", {2}), four({12}, "(BLOCK)", {4});
    const auto found = hocket::relabel(two, four);
    EXPECT_EQ(found.moved, 6);
    std::vector<std::int64_t> sorted = found.ranks;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

/// 10^8 pairs of processes share elements, and none shares more than process r and part r.
TEST(Relabel, equal_shares_of_ten_thousand_processes_stay) {
    constexpr std::int64_t p = 10000;
    const Layout rows({2 * p, 2 * p}, "(BLOCK,*)", {p}), columns({2 * p, 2 * p}, "(*,BLOCK)", {p});
    const auto found = hocket::relabel(rows, columns);
    ASSERT_EQ(found.ranks.size(), static_cast<std::size_t>(p));
    for (std::int64_t r = 0; r < p; ++r) ASSERT_EQ(found.ranks[static_cast<std::size_t>(r)], r);
    EXPECT_EQ(found.moved, 4 * p * p - 4 * p);
    EXPECT_EQ(found.moved_without, found.moved);
}
