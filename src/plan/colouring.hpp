// SPDX-License-Identifier: BSD-3-Clause
// Messages in the fewest rounds: an edge colouring of a bipartite graph with the fewest colours.
#pragma once

#include <cstdint>
#include <vector>

namespace hocket::plan {

/// The neighbours of each row: columns, increasing.
using Edges = std::vector<std::vector<std::int32_t>>;

/// The largest degree of a row or a column.
std::int64_t most_edges(const Edges& rows, std::int64_t columns);

/// A colour for each edge, different among the edges of a row and those of a column. It uses
/// `most_edges` colours, which is the minimum (König, "Über Graphen und ihre Anwendung auf
/// Determinantentheorie und Mengenlehre", Math. Ann. 77, 1916). Takes time for edges times colours.
Edges colour(const Edges& rows, std::int64_t columns);

}  // namespace hocket::plan
