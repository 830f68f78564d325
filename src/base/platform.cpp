// SPDX-License-Identifier: BSD-3-Clause
#include "base/platform.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hocket::platform {

namespace {

double seconds_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double seconds() {
    return seconds_of(CLOCK_MONOTONIC);
}

double thread_seconds() {
    return seconds_of(simulated ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID);
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

std::int64_t process_id() {
    static std::atomic<std::int64_t> id{0};
    static const bool follows_forks =
        !simulated && pthread_atfork(nullptr, nullptr, [] { id.store(getpid()); }) == 0;
    const std::int64_t known = id.load(std::memory_order_relaxed);
    if (known != 0) return known;
    if (follows_forks) id.store(getpid());
    return getpid();
}

std::string host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

int thread_number() {
    return static_cast<int>(syscall(SYS_gettid));
}

int keep_off(int thread_number) {
    cpu_set_t set;
    const int core = simulated ? -1 : sched_getcpu();
    if (core < 0 || sched_getaffinity(thread_number, sizeof set, &set) != 0) return -1;
    if (!CPU_ISSET(static_cast<std::size_t>(core), &set) || CPU_COUNT(&set) < 2) return -1;
    CPU_CLR(static_cast<std::size_t>(core), &set);
    return sched_setaffinity(thread_number, sizeof set, &set) == 0 ? core : -1;
}

void allow_again(int core) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return;
    CPU_SET(static_cast<std::size_t>(core), &set);
    sched_setaffinity(0, sizeof set, &set);
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
