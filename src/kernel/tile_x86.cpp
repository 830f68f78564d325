// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/tile_x86.hpp"

#if defined(__x86_64__)
#include "kernel/tile_avx2.hpp"
#include "kernel/tile_avx512.hpp"
#include "kernel/tile_sse2.hpp"
#endif

namespace hocket::kernel {

TileKernel select_x86_tile_kernel([[maybe_unused]] std::int64_t unit,
                                  [[maybe_unused]] CpuLevel level) {
#if defined(__x86_64__)
    if (level == CpuLevel::avx512) {
        if (unit == 4) return avx512::transpose_4;
        if (unit == 8) return avx512::transpose_8;
        if (unit == 16) return avx512::transpose_16;
    }
    if (level >= CpuLevel::avx2) {
        if (unit == 4) return avx2::transpose_4;
        if (unit == 8) return avx2::transpose_8;
    }
    if (unit == 1) return sse2::transpose_1;
    if (unit == 2) return sse2::transpose_2;
    if (unit == 4) return sse2::transpose_4;
#endif
    return nullptr;
}

}  // namespace hocket::kernel
