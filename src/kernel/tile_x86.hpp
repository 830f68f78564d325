// SPDX-License-Identifier: BSD-3-Clause
// Transposition of tiles in vector registers, on x86-64.
#pragma once

#include "kernel/cpu.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {

/// A kernel for tiles whose smallest strides are the unit itself on both sides; null if plain C++
/// is used (other units, other processors).
TileKernel select_x86_tile_kernel(std::int64_t unit, CpuLevel level);

}  // namespace hocket::kernel
