// SPDX-License-Identifier: BSD-3-Clause
// The instruction sets of this processor, detected at run time.
#pragma once

namespace hocket::kernel {

enum class CpuLevel {
    portable,  // plain C++ (on x86-64: with SSE2, which every processor has)
    avx2,
    avx512,  // F, BW, DQ and VL
};

/// HOCKET_CPU=portable|avx2|avx512 lowers it, for tests and measurements.
CpuLevel cpu_level();

const char* cpu_level_name(CpuLevel level);

}  // namespace hocket::kernel
