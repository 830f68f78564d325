// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/cpu.hpp"

#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

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

std::string Processor::name() const {
    if (maker == Maker::other) return "another processor";
    return std::string(maker == Maker::amd ? "AMD" : "Intel") + " family " +
           std::to_string(family) + " model " + std::to_string(model);
}

bool Processor::zen3() const {
    // The other models of this family are of Zen 4.
    const bool zen4 = (model >= 0x10 && model < 0x20) || (model >= 0x60 && model < 0xb0);
    return maker == Maker::amd && family == 0x19 && !zen4;
}

std::int64_t first_level_cache() {
#ifdef _SC_LEVEL1_DCACHE_SIZE
    const std::int64_t cache = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    if (cache > 0) return cache;
#endif
    return 0;
}

Processor this_processor() {
    Processor found;
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0, &a, &b, &c, &d) == 0) return found;
    if (b == signature_AMD_ebx) found.maker = Processor::Maker::amd;
    if (b == signature_INTEL_ebx) found.maker = Processor::Maker::intel;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return found;
    // Both makers number families beyond 15 by a second field, and models by two.
    const unsigned family = a >> 8 & 15, model = a >> 4 & 15;
    found.family = static_cast<int>(family == 15 ? family + (a >> 20 & 255) : family);
    found.model = static_cast<int>(model + (a >> 16 & 15) * 16);
#endif
    return found;
}

std::string vector_instructions() {
#if defined(__x86_64__)
    if (cpu_level() == CpuLevel::portable) return "sse2";
#endif
#if defined(__ARM_NEON)
    return "neon";
#endif
    return cpu_level() == CpuLevel::portable ? "none" : cpu_level_name(cpu_level());
}

}  // namespace hocket::kernel
