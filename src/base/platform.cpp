// SPDX-License-Identifier: BSD-3-Clause
#include "base/platform.hpp"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hocket::platform {

double seconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void pause() {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

void yield() {
    if constexpr (simulated) {
        sleep(1e-6);
    } else {
        sched_yield();
    }
}

void sleep(double duration) {
    usleep(static_cast<useconds_t>(duration * 1e6) + 1);
}

int cores() {
    if constexpr (simulated) return 1;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
}

bool shares_cores(std::int64_t process) {
    cpu_set_t mine, theirs, common;
    if (simulated || sched_getaffinity(0, sizeof mine, &mine) != 0 ||
        sched_getaffinity(static_cast<pid_t>(process), sizeof theirs, &theirs) != 0)
        return true;
    CPU_AND(&common, &mine, &theirs);
    return CPU_COUNT(&common) > 0;
}

}  // namespace hocket::platform
