// SPDX-License-Identifier: BSD-3-Clause
// Messages in the fewest rounds: the edges of a bipartite graph in the fewest colours.
#pragma once

#include <cstdint>
#include <vector>

namespace hocket::plan {

/// What each row is joined with: columns, increasing.
using Edges = std::vector<std::vector<std::int32_t>>;

/// The most edges that a row or a column has.
std::int64_t most_edges(const Edges& rows, std::int64_t columns);

/// A colour for each edge, so that none of a row's and none of a column's are the same: as many
/// colours as `most_edges`, which is the least there can be (König, "Über Graphen und ihre
/// Anwendung auf Determinantentheorie und Mengenlehre", Math. Ann. 77, 1916). Costs edges times
/// colours.
Edges colour(const Edges& rows, std::int64_t columns);

}  // namespace hocket::plan
