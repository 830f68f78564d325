// SPDX-License-Identifier: BSD-3-Clause
// Schedules of He and Ding, section 4.1: the assignment of a loop's iterations to threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace hocket::kernel {

struct LoopSchedule {
    enum class Kind {
        automatic,  // the kernel chooses
        fixed,      // "static": a partition of ceil(n / threads) iterations a thread
        balanced,   // "static,balanced": partitions of nearly equal total length
        guided,     // chunks of ceil(rest / threads), first come, first served
        dynamic,    // chunks of `chunk`, first come, first served
        affinity,   // partitions as "static", in chunks of half their rest; a thread that has
                    // finished its own takes from others
    };
    Kind kind = Kind::automatic;
    std::int64_t chunk = 0;      // iterations; 0: as the schedule defines it
    bool largest_first = false;  // distribute the longest iterations first

    /// "auto", "static", "static,balanced", "guided[,n]", "dynamic[,n][,largest]", "affinity[,n]".
    /// @throws Error for anything else; the message lists these.
    static LoopSchedule parse(std::string_view text);
};

/// Calls run(first, last) for ranges that cover [0, count) once, on up to `threads` threads.
/// `length(k)` is the work in iteration k. With `balanced` and `largest` the order of iterations
/// differs: `run` then gets ranges of one.
void run_scheduled(const LoopSchedule& schedule, int threads, std::int64_t count,
                   const std::function<std::int64_t(std::int64_t)>& length,
                   const std::function<void(std::int64_t, std::int64_t)>& run);

}  // namespace hocket::kernel
