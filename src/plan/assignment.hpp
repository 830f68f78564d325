// SPDX-License-Identifier: BSD-3-Clause
// The assignment of most weight, of a sparse table.
#pragma once

#include <cstdint>
#include <vector>

namespace hocket::plan {

/// One entry of a row; those left out weigh 0.
struct Weight {
    std::int64_t column;
    std::int64_t weight;  ///< 0 or more
};

/// For each row a column of its own, or -1, so that the weights add up to the most there can be.
/// Exact, in integers: rows are matched one after the other along shortest augmenting paths (Jonker
/// and Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment
/// problems", Computing 38, 1987). Memory by entries; a row that finds a tight column free costs
/// its entries, another a search of entries * log(entries) at most. Of columns that are as good, a
/// row takes that of its own number.
std::vector<std::int64_t> assign(const std::vector<std::vector<Weight>>& rows,
                                 std::int64_t columns);

}  // namespace hocket::plan
