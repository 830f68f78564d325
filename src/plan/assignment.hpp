// SPDX-License-Identifier: BSD-3-Clause
// The assignment of largest weight in a sparse table.
#pragma once

#include <cstdint>
#include <vector>

namespace hocket::plan {

/// One entry of a row; missing entries weigh 0.
struct Weight {
    std::int64_t column;
    std::int64_t weight;  ///< 0 or more
};

/// A table whose equal rows and equal columns are listed once.
struct WeightTable {
    std::vector<std::vector<Weight>> rows;
    std::vector<std::int64_t> row_counts, column_counts;  ///< the equal rows, and columns
};

/// Rows that are assigned to as many columns.
struct Flow {
    std::int64_t row, column, count, weight;  ///< `weight`: of one pair
};

/// Assigns to each row a different column, or none, so that the sum of weights is largest. Exact,
/// in integers: hocket assigns row after row along shortest augmenting paths (Jonker and Volgenant,
/// "A shortest augmenting path algorithm for dense and sparse linear assignment problems",
/// Computing 38, 1987), all equal rows of a path at once. If there are fewer columns than rows, it
/// assigns columns. Memory grows with the entries. A row that finds a tight free column takes time
/// for its entries; another takes at most entries * log(entries). `preferred`: by row and column,
/// the pairs that are taken first if they are among the best of their row. The result has no zeros.
std::vector<Flow> assign(WeightTable table, std::vector<Flow> preferred);

/// The same for single rows and columns: the column of each row, or -1. Among equally good columns,
/// a row takes the one with its own number.
std::vector<std::int64_t> assign(std::vector<std::vector<Weight>> rows, std::int64_t columns);

}  // namespace hocket::plan
