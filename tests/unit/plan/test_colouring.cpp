// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "plan/colouring.hpp"

using hocket::plan::Edges;

TEST(Colouring, takes_the_fewest_colours_and_repeats_none) {
    std::mt19937 engine(9);
    for (int round = 0; round < 300; ++round) {
        const int rows = 1 + static_cast<int>(engine() % 12);
        const int columns = 1 + static_cast<int>(engine() % 12);
        const unsigned density = 1 + engine() % 8;
        Edges edges(static_cast<std::size_t>(rows));
        for (auto& row : edges)
            for (int c = 0; c < columns; ++c)
                if (engine() % 8 < density) row.push_back(c);
        const auto most = hocket::plan::most_edges(edges, columns);
        const Edges colours = hocket::plan::colour(edges, columns);
        std::set<std::pair<int, int>> at_column;
        for (std::size_t r = 0; r < edges.size(); ++r) {
            ASSERT_EQ(colours[r].size(), edges[r].size());
            std::set<int> at_row;
            for (std::size_t k = 0; k < edges[r].size(); ++k) {
                ASSERT_GE(colours[r][k], 0);
                ASSERT_LT(colours[r][k], most);
                ASSERT_TRUE(at_row.insert(colours[r][k]).second);
                ASSERT_TRUE(at_column.insert({edges[r][k], colours[r][k]}).second);
            }
        }
    }
}
