// SPDX-License-Identifier: BSD-3-Clause
// Tiles of a few long rows and as many units in each of their columns, as pictures have colours:
// whole vectors are shuffled, where squares would be wider than the tile.
#pragma once

#include "kernel/tiles.hpp"

namespace hocket::kernel {

/// The most rows or columns of such a tile.
constexpr std::int64_t longest_narrow_side = 15;

/// The kernel for tiles with the short extent and the strides of this one, if the columns are
/// contiguous in memory; null for other tiles, and if the processor does not shuffle bytes.
TileKernel select_narrow_kernel(const Tile& tile);

}  // namespace hocket::kernel
