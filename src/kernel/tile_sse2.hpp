// SPDX-License-Identifier: BSD-3-Clause
// Tiles of 1-, 2- and 4-byte units in SSE2 registers; see select_x86_tile_kernel.
#pragma once

#include "kernel/tiles.hpp"

namespace hocket::kernel::sse2 {

void transpose_1(const std::byte* source, std::byte* destination, const Tile& tile);
void transpose_2(const std::byte* source, std::byte* destination, const Tile& tile);
void transpose_4(const std::byte* source, std::byte* destination, const Tile& tile);

}  // namespace hocket::kernel::sse2
