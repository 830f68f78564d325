// SPDX-License-Identifier: BSD-3-Clause
// Rectangular blocks on one grid of points, and where they touch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/layout.hpp"

namespace apps {

struct Block {
    std::int64_t row, col, rows, cols;  ///< its first point, and how many
};

/// An edge that two blocks share: points along one side of each.
struct Edge {
    std::size_t block, other;
    /// Along dimension `across` the blocks lie side by side; `upper`: the other block comes behind.
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

/// Extents of a grid of `processes`, as near to the block's proportions as whole numbers allow.
hocket::Shape arrangement(std::int64_t processes, const Block& block);

}  // namespace apps
