// SPDX-License-Identifier: BSD-3-Clause
// LINPACK's columns beside the plainest loops: whole and broken groups of rows, and pivots that
// have no inverse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../../../apps/linpack/column.hpp"

namespace {

using linpack::Block;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// Without an inverse that is a number.
constexpr double tiny = std::numeric_limits<double>::denorm_min();

// In [-1, 1), different for each element.
double element(std::int64_t i, std::int64_t j) {
    const auto mixed = static_cast<std::uint64_t>(i * 131 + j + 7) * 0x9E3779B97F4A7C15U;
    return static_cast<double>(mixed >> 11U) * 0x1p-52 - 1;
}

// Columns with a row more, which no function may write.
struct Columns {
    Columns(std::int64_t rows, std::int64_t columns)
        : memory(static_cast<std::size_t>((rows + 1) * columns)),
          block{memory.data(), rows, columns, rows + 1} {
        for (std::int64_t j = 0; j < columns; ++j) {
            for (std::int64_t i = 0; i < rows; ++i) block.at(i, j) = element(i, j);
            block.at(rows, j) = guard;
        }
    }
    void expect_guards() const {
        for (std::int64_t j = 0; j < block.columns; ++j) EXPECT_EQ(block.at(block.rows, j), guard);
    }

    static constexpr double guard = 1e300;
    std::vector<double> memory;
    Block block;
};

// Products may be fused with differences, and an inverse is rounded.
void expect_near(double found, double expected) {
    if (std::isfinite(expected))
        EXPECT_NEAR(found, expected, 1e-13 * std::max(1.0, std::fabs(expected)));
    else if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(found));
    else
        EXPECT_EQ(found, expected);
}

const std::int64_t numbers_of_rows[] = {0, 1, 7, 8, 9, 31, 32, 33, 75};

TEST(Column, EliminateLastIsTheLoop) {
    for (const double pivot : {0.75, -3.0, 0.0, tiny, infinite, nan})
        for (const auto rows : numbers_of_rows)
            for (const std::int64_t columns : {1, 2, 3, 16}) {
                SCOPED_TRACE(testing::Message() << pivot << ", " << rows << " x " << columns);
                const std::int64_t before = columns - 1;
                const Columns found(rows, columns), expected(rows, columns);
                std::vector<double> row;
                for (std::int64_t k = 0; k < before; ++k) row.push_back(element(k, 99));
                // If the pivot is 0, its column is.
                for (std::int64_t i = 0; pivot == 0 && before > 0 && i < rows; ++i)
                    found.block.at(i, before - 1) = expected.block.at(i, before - 1) = 0;
                double largest = 0;
                for (std::int64_t i = 0; i < rows; ++i) {
                    const auto at = [&](std::int64_t j) -> double& {
                        return expected.block.at(i, j);
                    };
                    if (before > 0 && pivot != 0) at(before - 1) /= pivot;
                    for (std::int64_t k = 0; k < before; ++k)
                        at(before) -= at(k) * row[static_cast<std::size_t>(k)];
                    const double size = std::fabs(at(before));
                    if (size > largest || std::isnan(size)) largest = size;
                    if (std::isnan(largest)) largest = nan;
                }
                expect_near(linpack::eliminate_last(found.block, pivot, row.data()), largest);
                for (std::int64_t j = 0; j < columns; ++j)
                    for (std::int64_t i = 0; i < rows; ++i)
                        expect_near(found.block.at(i, j), expected.block.at(i, j));
                found.expect_guards();
            }
}

TEST(Column, DivideLeavesAColumnOfZerosAlone) {
    for (const double pivot : {0.75, 0.0, tiny, infinite, nan}) {
        const Columns column(9, 1);
        if (pivot == 0) std::fill_n(column.block.data, 9, 0.0);
        linpack::divide(column.block, pivot);
        for (std::int64_t i = 0; i < 9; ++i)
            expect_near(column.block.at(i, 0), pivot == 0 ? 0 : element(i, 0) / pivot);
        column.expect_guards();
    }
}

TEST(Column, RowWithFindsTheFirstMagnitude) {
    for (const auto rows : numbers_of_rows)
        for (const double value : {2.0, infinite, nan}) {
            SCOPED_TRACE(testing::Message() << value << " in " << rows);
            const Columns column(rows, 1);
            EXPECT_EQ(linpack::row_with(column.block, value, 0), rows);
            EXPECT_EQ(linpack::row_with(column.block, Columns::guard, 0), rows);
            for (std::int64_t at = 0; at < rows; ++at) {
                column.block.at(at, 0) = -value;
                column.block.at(rows - 1, 0) = value;
                EXPECT_EQ(linpack::row_with(column.block, value, 0), at);
                EXPECT_EQ(linpack::row_with(column.block, -value, at), at);
                EXPECT_EQ(linpack::row_with(column.block, value, at + 1),
                          at + 1 < rows ? rows - 1 : rows);
                column.block.at(at, 0) = 0;
            }
        }
}

TEST(Column, NanIsTheLargest) {
    for (const auto rows : numbers_of_rows)
        for (std::int64_t at = 0; at < rows; ++at) {
            const Columns column(rows, 1);
            column.block.at(0, 0) = infinite;
            column.block.at(at, 0) = nan;
            const double largest = linpack::eliminate_last(column.block, 1, nullptr);
            EXPECT_TRUE(std::isnan(largest));
            EXPECT_EQ(linpack::row_with(column.block, largest, 0), at);
        }
}

TEST(Column, InvertLowerTimesTheTriangleIsTheUnit) {
    for (std::int64_t rows = 1; rows <= 33; ++rows) {
        SCOPED_TRACE(rows);
        const Columns l(rows, rows), inverse(rows, rows);
        linpack::invert_lower(inverse.block);
        for (std::int64_t j = 0; j < rows; ++j) {
            for (std::int64_t i = 0; i <= j; ++i)
                EXPECT_EQ(inverse.block.at(i, j), element(i, j));  // is not written
            for (std::int64_t i = j + 1; i < rows; ++i) {
                double sum = l.block.at(i, j) + inverse.block.at(i, j), size = std::fabs(sum);
                for (std::int64_t k = j + 1; k < i; ++k) {
                    const double product = l.block.at(i, k) * inverse.block.at(k, j);
                    sum += product;
                    size += std::fabs(product);
                }
                EXPECT_NEAR(sum, 0, 1e-13 * std::max(1.0, size));
            }
        }
        inverse.expect_guards();
    }
}

}  // namespace
