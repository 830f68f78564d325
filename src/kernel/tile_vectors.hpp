// SPDX-License-Identifier: BSD-3-Clause
// Tiles whose units are transposed in vector registers, as squares. Written with the vector types
// of GCC and Clang (`vector_size`, `__builtin_shufflevector`): one source for SSE2, AVX2 and NEON.
// Highway would give the same instructions, but its dispatcher is a dependency of the build, and
// hocket selects instructions by itself (kernel/cpu.hpp). Only AVX-512 has a source of its own
// (kernel/tile_avx512.hpp), because vector types have no masked loads and stores.
#pragma once

#include <cstdint>

#include "kernel/cpu.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {

/// The kernels for units of 1, 2, 4, 8 or 16 bytes that are contiguous along i in the source and
/// along j in the destination; null for other units, and on processors without vectors.
TileKernels select_vector_kernels(std::int64_t unit, CpuLevel level);

}  // namespace hocket::kernel
