// SPDX-License-Identifier: BSD-3-Clause
// Tiles of 4-, 8- and 16-byte units in AVX-512 registers; see select_vector_kernels. Masked loads
// and stores at the rims of tiles, which vector types of the compiler do not have, make these
// kernels faster than those.
#pragma once

#include "kernel/tiles.hpp"

namespace hocket::kernel::avx512 {

/// Null for units of other sizes.
TileKernels kernels_for(std::int64_t unit);

}  // namespace hocket::kernel::avx512
