// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/cpu.hpp"

#include <algorithm>
#include <string>

#include "base/environment.hpp"
#include "hocket/error.hpp"
#include "hocket/kernel.hpp"

namespace hocket::kernel {
namespace {

CpuLevel detect() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return CpuLevel::avx512;
    if (__builtin_cpu_supports("avx2")) return CpuLevel::avx2;
#endif
    return CpuLevel::portable;
}

CpuLevel choose() {
    const CpuLevel found = detect();
    const auto text = environment::value_of("HOCKET_CPU");
    if (!text) return found;
    for (const CpuLevel level : {CpuLevel::portable, CpuLevel::avx2, CpuLevel::avx512})
        if (*text == cpu_level_name(level)) return std::min(level, found);
    throw Error("HOCKET_CPU is '" + *text + "'; set it to portable, avx2 or avx512, or unset it");
}

}  // namespace

namespace {
const environment::ValidatedSetting checked_level([] { static_cast<void>(cpu_level()); });
}

CpuLevel cpu_level() {
    static const CpuLevel level = choose();
    return level;
}

const char* cpu_level_name(CpuLevel level) {
    switch (level) {
        case CpuLevel::avx512:
            return "avx512";
        case CpuLevel::avx2:
            return "avx2";
        case CpuLevel::portable:
            break;
    }
    return "portable";
}

std::string vector_instructions() {
#if defined(__x86_64__)
    if (cpu_level() == CpuLevel::portable) return "sse2";
#endif
    return cpu_level() == CpuLevel::portable ? "none" : cpu_level_name(cpu_level());
}

}  // namespace hocket::kernel
