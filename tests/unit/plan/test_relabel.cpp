// SPDX-License-Identifier: BSD-3-Clause
// The assignment of most weight against every permutation, and relabeling by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "../layout/oracle.hpp"
#include "hocket/plan.hpp"
#include "plan/assignment.hpp"
#include "plan/classes.hpp"
#include "plan/interval_assignment.hpp"

using hocket::Layout;
using hocket::Shape;
using namespace hocket::plan;

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

/// A table without counts: each row and column as often as it is there.
Table repeated(const WeightTable& table) {
    std::vector<std::int64_t> first{0};
    for (const std::int64_t count : table.column_counts) first.push_back(first.back() + count);
    Table rows;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        std::vector<Weight> row;
        for (const Weight& each : table.rows[i])
            for (auto c = first[static_cast<std::size_t>(each.column)];
                 c < first[static_cast<std::size_t>(each.column) + 1]; ++c)
                row.push_back({c, each.weight});
        rows.insert(rows.end(), static_cast<std::size_t>(table.row_counts[i]), row);
    }
    return rows;
}

/// Two random grids; nothing if the source lacks elements.
std::optional<Problem> random_grids(oracle::Random& random) {
    const Shape shape = random.shape(static_cast<std::size_t>(random.between(1, 3)));
    const oracle::Model from = random.model(shape, false), to = random.model(shape, false);
    if (!from.layout.form().gridded() || !to.layout.form().gridded()) return {};
    Options options;
    options.partial = true;
    return Problem(from.layout, to.layout, options);
}

/// The common elements of each part with each process, pair by pair.
Table common_elements(const Problem& problem) {
    Table rows(static_cast<std::size_t>(problem.destination.size()));
    for (std::int64_t d = 0; d < problem.destination.size(); ++d)
        for (std::int64_t s = 0; s < problem.source.size(); ++s)
            if (const std::int64_t count = problem.common(s, d); count > 0)
                rows[static_cast<std::size_t>(d)].push_back({s, count});
    return rows;
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

TEST(Assignment, of_equal_rows_and_columns_is_that_of_each) {
    std::mt19937 engine(6);
    const auto below = [&](std::int64_t n) {
        return std::uniform_int_distribution<std::int64_t>(0, n - 1)(engine);
    };
    for (int round = 0; round < 400; ++round) {
        WeightTable table;
        for (std::int64_t c = 0, n = 1 + below(4); c < n; ++c)
            table.column_counts.push_back(below(5));
        for (std::int64_t i = 0, n = 1 + below(4); i < n; ++i) {
            table.row_counts.push_back(below(5));
            auto& row = table.rows.emplace_back();
            for (std::size_t c = 0; c < table.column_counts.size(); ++c)
                if (below(3) > 0) row.push_back({static_cast<std::int64_t>(c), below(7)});
        }
        std::vector<std::int64_t> left = table.row_counts, room = table.column_counts;
        std::int64_t sum = 0;
        for (const Flow& flow : assign(table, {})) {
            ASSERT_GT(flow.count, 0);
            left[static_cast<std::size_t>(flow.row)] -= flow.count;
            room[static_cast<std::size_t>(flow.column)] -= flow.count;
            sum += flow.count * flow.weight;
            const auto& row = table.rows[static_cast<std::size_t>(flow.row)];
            ASSERT_TRUE(std::any_of(row.begin(), row.end(), [&](const Weight& each) {
                return each.column == flow.column && each.weight == flow.weight;
            }));
        }
        for (const std::int64_t count : left) ASSERT_GE(count, 0);
        for (const std::int64_t count : room) ASSERT_GE(count, 0);
        const Table rows = repeated(table);
        const auto columns = std::accumulate(table.column_counts.begin(), table.column_counts.end(),
                                             std::int64_t{0});
        ASSERT_EQ(sum, weight_of(rows, assign(rows, columns)));
    }
}

TEST(Assignment, takes_the_own_number_among_equals) {
    const Table rows(3, {{0, 5}, {1, 5}, {2, 5}});
    EXPECT_EQ(assign(rows, 3), (std::vector<std::int64_t>{0, 1, 2}));
    EXPECT_EQ(assign({{}, {}}, 0), (std::vector<std::int64_t>{-1, -1}));
}

TEST(Classes, pairs_of_two_classes_have_equally_many_common_elements) {
    oracle::Random random(11);
    for (int checked = 0; checked < 300;) {
        const auto problem = random_grids(random);
        if (!problem) continue;
        ++checked;
        const ProcessClasses classes(*problem);
        for (const auto* side : {&classes.source, &classes.destination}) {
            auto sizes = side->sizes;
            for (const std::int64_t number : side->of)
                if (number >= 0) --sizes[static_cast<std::size_t>(number)];
            ASSERT_EQ(sizes, std::vector<std::int64_t>(sizes.size(), 0));
        }
        for (std::int64_t d = 0; d < problem->destination.size(); ++d)
            for (std::int64_t s = 0; s < problem->source.size(); ++s) {
                const auto l = classes.destination.of[static_cast<std::size_t>(d)];
                const auto k = classes.source.of[static_cast<std::size_t>(s)];
                std::int64_t count = 0;
                if (l >= 0 && k >= 0)
                    for (const Weight& each : classes.columns[static_cast<std::size_t>(l)])
                        if (each.column == k) count = each.weight;
                ASSERT_EQ(count, problem->common(s, d))
                    << problem->source.text() << " -> " << problem->destination.text();
            }
    }
}

/// Periods alone say that 10^4 processes have few classes.
TEST(Classes, of_periodic_layouts_are_few) {
    constexpr std::int64_t p = 10000;
    const auto count = [](const Layout& from, const Layout& to) {
        const ProcessClasses classes(Problem(from, to, {}));
        return std::pair(classes.source.sizes.size(), classes.destination.sizes.size());
    };
    EXPECT_EQ(count(Layout({p * p}, "(BLOCK)", {p}), Layout({p * p}, "(CYCLIC)", {p})),
              std::pair(std::size_t{1}, std::size_t{1}));
    EXPECT_EQ(count(Layout({p, p + 1}, "(BLOCK,*)", {p}), Layout({p, p + 1}, "(*,CYCLIC)", {p})),
              std::pair(std::size_t{1}, std::size_t{2}));
    EXPECT_EQ(
        count(Layout({36 * p}, "(CYCLIC(3))", {p}), Layout({36 * p}, "(CYCLIC(4))", {p / 10})),
        std::pair(std::size_t{1500}, std::size_t{500}));
}

TEST(Relabel, is_the_best_of_all_assignments) {
    oracle::Random random(12);
    for (int checked = 0; checked < 300;) {
        const auto problem = random_grids(random);
        if (!problem) continue;
        Relabeling found;
        try {
            found = hocket::relabel(problem->source, problem->destination);
        } catch (const hocket::LayoutError&) {
            continue;  // the source lacks elements
        }
        ++checked;
        const Table rows = common_elements(*problem);
        const std::int64_t all = problem->wanted();
        EXPECT_EQ(found.moved, all - weight_of(rows, assign(rows, problem->source.size())));
        EXPECT_EQ(found.moved, all - weight_of(rows, found.ranks));
        std::vector<std::int64_t> own(rows.size());
        std::iota(own.begin(), own.end(), 0);
        EXPECT_EQ(found.moved_without, all - weight_of(rows, own));
        if (found.moved == found.moved_without) {
            EXPECT_EQ(found.ranks, own);
        }
        const std::set<std::int64_t> taken(found.ranks.begin(), found.ranks.end());
        EXPECT_EQ(taken.size(), rows.size());
        EXPECT_GE(*taken.begin(), 0);
        EXPECT_LT(*taken.rbegin(), std::max(problem->source.size(), problem->destination.size()));
        ASSERT_FALSE(HasFailure())
            << problem->source.text() << " -> " << problem->destination.text();
    }
}

/// Blocks against rounds of blocks: what the intervals prove is what the table of all pairs says.
TEST(Relabel, of_intervals_is_that_of_all_pairs) {
    std::mt19937 engine(13);
    const auto between = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
    };
    int proven = 0;
    for (int round = 0; round < 500; ++round) {
        const std::int64_t p = between(1, 12), q = between(1, 12), k = between(1, 5),
                           n = between(1, 300), m = round % 3 == 0 ? between(1, 20) : 1;
        const std::string cyclic = "CYCLIC(" + std::to_string(k) + ")";
        const Layout one({n}, round % 2 == 0 ? "(BLOCK)" : "(BALANCED)", {p}),
            two({n}, "(" + cyclic + ")", {q}), blocks({n, m}, "(BLOCK,BLOCK)", {p, q}),
            rounds({n, m}, "(" + cyclic + ",CYCLIC)", {p, q});
        const bool turn = round % 5 < 2, plane = m > 1;
        const Layout& from = plane ? (turn ? rounds : blocks) : (turn ? two : one);
        const Layout& to = plane ? (turn ? blocks : rounds) : (turn ? one : two);
        const Problem problem(from, to, {});
        const auto found = assign_intervals(problem);
        if (!found) continue;
        ++proven;
        const Table rows = common_elements(problem);
        ASSERT_EQ(weight_of(rows, *found), weight_of(rows, assign(rows, from.size())))
            << from.text() << " -> " << to.text();
        std::vector<std::int64_t> taken = *found;
        std::erase(taken, -1);
        ASSERT_EQ(std::set<std::int64_t>(taken.begin(), taken.end()).size(), taken.size());
    }
    EXPECT_GT(proven, 250);
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
    // A row and a column more: the longest rows take the longest columns.
    const auto uneven = hocket::relabel(Layout({2 * p + 1, 2 * p}, "(BALANCED,*)", {p}),
                                        Layout({2 * p + 1, 2 * p}, "(*,BALANCED)", {p}));
    EXPECT_EQ(uneven.moved, uneven.moved_without);
}

/// 5 * 10^7 pairs of processes share elements, in classes of one process each.
TEST(Relabel, of_ten_thousand_uneven_blocks_lists_no_pairs) {
    constexpr std::int64_t p = 10000, n = p * p + 17;
    const auto found =
        hocket::relabel(Layout({n}, "(BLOCK)", {p}), Layout({n}, "(CYCLIC(2))", {p}));
    EXPECT_EQ(found.moved, n - 2 * p);  // no pair shares more than two elements
    const std::set<std::int64_t> taken(found.ranks.begin(), found.ranks.end());
    EXPECT_EQ(taken.size(), std::size_t{p});
}

/// Pairs of few classes: 10^4 processes in two dimensions.
TEST(Relabel, of_ten_thousand_processes_in_two_dimensions) {
    constexpr std::int64_t n = 40000;
    const Layout from({n, n}, "(CYCLIC(3),CYCLIC(3))", {100, 100}),
        to({n, n}, "(CYCLIC(5),CYCLIC(5))", {100, 100});
    const auto found = hocket::relabel(from, to);
    EXPECT_LT(found.moved, found.moved_without);
    const std::set<std::int64_t> taken(found.ranks.begin(), found.ranks.end());
    EXPECT_EQ(taken.size(), std::size_t{10000});
}
