// SPDX-License-Identifier: BSD-3-Clause
// Rectangular blocks on one grid of points, and their common edges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/layout.hpp"

namespace apps {

struct Block {
    std::int64_t row, col, rows, cols;  ///< its first point, and its extents
};

/// An edge that two blocks share: points along one side of each.
struct Edge {
    std::size_t block, other;
    /// The blocks are neighbours along dimension `across`; `upper`: the other block has higher
    /// indices.
    std::size_t across;
    bool upper;
    std::int64_t first, count;  ///< of this block's own indices along the other dimension
    std::int64_t other_first;   ///< of the other block's

    std::vector<hocket::Slice> slices(const Block& of) const;
    Edge reversed() const;
};

/// "row,col,rows,cols;…"; checked by `hocket app`.
std::vector<Block> blocks_of(const std::string& text);

/// Every shared edge once, from the block with the lower number.
std::vector<Edge> edges_of(const std::vector<Block>& blocks);

/// Extents of a grid of `processes`, as close to the block's proportions as integers allow.
hocket::Shape arrangement(std::int64_t processes, const Block& block);

}  // namespace apps
