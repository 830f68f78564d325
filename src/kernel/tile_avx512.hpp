// SPDX-License-Identifier: BSD-3-Clause
// Tiles of 4-, 8- and 16-byte units in AVX-512 registers; see select_x86_tile_kernel.
#pragma once

#include "kernel/tiles.hpp"

namespace hocket::kernel::avx512 {

void transpose_4(const std::byte* source, std::byte* destination, const Tile& tile);
void transpose_8(const std::byte* source, std::byte* destination, const Tile& tile);
void transpose_16(const std::byte* source, std::byte* destination, const Tile& tile);

}  // namespace hocket::kernel::avx512
