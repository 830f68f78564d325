// SPDX-License-Identifier: BSD-3-Clause
// What the processor that runs us can do, found once at run time.
#pragma once

namespace hocket::kernel {

enum class CpuLevel {
    portable,  // plain C++ (on x86-64: with SSE2, which every one has)
    avx2,
    avx512,  // F, BW, DQ and VL
};

/// HOCKET_CPU=portable|avx2|avx512 lowers it, for tests and for measuring.
CpuLevel cpu_level();

const char* cpu_level_name(CpuLevel level);

}  // namespace hocket::kernel
