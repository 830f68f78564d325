// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/tile_vectors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernel/tile_avx512.hpp"

namespace hocket::kernel {
namespace {

#if defined(__SSE2__) || defined(__ARM_NEON)
namespace vectors_of_16 {
constexpr int widest = 16;
#define HOCKET_VECTORS
#include "kernel/tile_vectors.inc"
#undef HOCKET_VECTORS
}  // namespace vectors_of_16
#endif

#if defined(__x86_64__)
namespace vectors_of_32 {
constexpr int widest = 32;
#define HOCKET_VECTORS __attribute__((target("avx2")))
#include "kernel/tile_vectors.inc"
#undef HOCKET_VECTORS
}  // namespace vectors_of_32
#endif

}  // namespace

TileKernels select_vector_kernels([[maybe_unused]] std::int64_t unit,
                                  [[maybe_unused]] CpuLevel level) {
#if defined(__x86_64__)
    if (level >= CpuLevel::avx2) {
        const TileKernels kernels = vectors_of_32::kernels_for(unit);
        if (level == CpuLevel::avx2) return kernels;
        const TileKernels wide = avx512::kernels_for(unit);
        return wide.even ? TileKernels{wide.even, wide.listed, kernels.repeated} : kernels;
    }
#endif
#if defined(__SSE2__) || defined(__ARM_NEON)
    return vectors_of_16::kernels_for(unit);
#else
    return {};
#endif
}

}  // namespace hocket::kernel
