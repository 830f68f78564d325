// SPDX-License-Identifier: BSD-3-Clause
// The instruction sets of this processor, detected at run time.
#pragma once

#include <cstdint>
#include <string>

namespace hocket::kernel {

enum class CpuLevel {
    portable,  // plain C++ (on x86-64: with SSE2, which every processor has)
    avx2,
    avx512,  // F, BW, DQ and VL
};

/// HOCKET_CPU=portable|avx2|avx512 lowers it, for tests and measurements.
CpuLevel cpu_level();

const char* cpu_level_name(CpuLevel level);

/// The kind of this processor, by which hocket knows what it has measured.
struct Processor {
    enum class Maker { amd, intel, other };
    Maker maker = Maker::other;
    int family = 0, model = 0;

    /// "AMD family 26 model 2".
    std::string name() const;
    bool zen3() const;
    bool zen5() const { return maker == Maker::amd && family == 0x1a; }
};
Processor this_processor();

/// Bytes of the first-level cache of data; 0 if the system does not tell.
std::int64_t first_level_cache();

}  // namespace hocket::kernel
