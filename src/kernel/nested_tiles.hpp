// SPDX-License-Identifier: BSD-3-Clause
// Small tiles in the caches, in nested loops: lists of rows and blocks would take longer than the
// tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hocket/kernel.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {

/// Whether tiles of the last two loops, i and j, fill vectors, and use whole lines of both sides
/// before these leave the first-level cache.
bool nesting_pays(std::span<const Loop> loops, std::int64_t unit);

/// The kernel of a tile: one of both.
struct NestedKernels {
    TileKernel one = nullptr;
    RepeatedTileKernel repeated = nullptr;
};
/// For the tiles of the last two loops, i and j.
NestedKernels select_nested_kernels(std::span<const Loop> loops, std::int64_t unit);

/// Copies tile by tile, in the order of `loops`.
void copy_nested_tiles(std::span<const Loop> loops, std::int64_t unit, const NestedKernels& kernels,
                       const std::byte* source, std::byte* destination);

}  // namespace hocket::kernel
