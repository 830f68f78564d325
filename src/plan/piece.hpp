// SPDX-License-Identifier: BSD-3-Clause
// What explicit segments exchange: boxes of indices, each within one segment.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/interval.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

/// A box of indices (one range for each dimension of the source), and where its first element lies
/// in the local array of each side that is indexed.
struct Piece {
    std::vector<layout::Range> box;
    std::int64_t place = 0;  ///< of its first element in the source's row-major order
    std::int64_t source_local = 0;
    std::int64_t destination_local = 0;
};

/// What one process exchanges with one process of the other side.
struct Group {
    std::int64_t peer;
    std::int64_t count;
    std::vector<Piece> pieces;  ///< in the source's row-major order of their first elements
};

/// All groups of one process, by increasing peer, where a side is indexed. Of copies only the first
/// where `one_copy`. Costs by segments; where this side is not indexed, by those of the other that
/// lie between its first and last element.
std::vector<Group> groups_of(const Problem& problem, Side side, std::int64_t rank, bool one_copy);

}  // namespace hocket::plan
