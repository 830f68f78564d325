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

/// Assigns to each row a different column, or -1, so that the sum of weights is largest. Exact, in
/// integers: matches one row after the other along shortest augmenting paths (Jonker and Volgenant,
/// "A shortest augmenting path algorithm for dense and sparse linear assignment problems",
/// Computing 38, 1987). Memory grows with the entries. A row that finds a tight free column takes
/// time for its entries; another takes at most entries * log(entries). Among equally good columns,
/// a row takes the one with its own number.
std::vector<std::int64_t> assign(const std::vector<std::vector<Weight>>& rows,
                                 std::int64_t columns);

}  // namespace hocket::plan
