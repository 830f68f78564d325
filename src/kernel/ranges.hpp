// SPDX-License-Identifier: BSD-3-Clause
// How the threads share a pass over memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/pool.hpp"

namespace hocket::kernel {

// With fewer bytes a part, or fewer parts, handing parts out costs more than it saves.
constexpr std::int64_t least_bytes_a_part = 64 << 10, least_shared_bytes = 3 * least_bytes_a_part;

/// Passes over fewer bytes wake threads only if they are slow.
inline base::Wake wake_for(std::int64_t bytes) {
    constexpr std::int64_t least_bytes_to_wake = 6 << 20;
    return bytes >= least_bytes_to_wake ? base::Wake::at_once : base::Wake::if_long;
}

/// The beginning of the given part of `count` items in `parts` even parts.
constexpr std::int64_t bound_of(std::int64_t count, std::int64_t parts, std::int64_t part) {
    return count / parts * part + count % parts * part / parts;
}

// A few ranges a thread, so that a thread that lost its core does not delay the others much; more
// where the items of a range differ in time.
constexpr std::int64_t few_ranges = 4, more_ranges = 8;

/// Divides [0, total) into even ranges for the threads, and calls function(first, last) for each.
/// All together move `bytes` bytes.
template <class Function>
void in_ranges(int threads, std::int64_t total, std::int64_t bytes, Function&& function,
               std::int64_t of_each = few_ranges) {
    const std::int64_t useful = std::min(bytes / least_bytes_a_part, total);
    if (threads == 1 || bytes < least_shared_bytes || useful <= 1)
        return function(std::int64_t{0}, total);
    const std::int64_t parts = std::min(useful, of_each * base::resolve_threads(threads));
    base::parallel_for(
        threads, parts,
        [&](std::int64_t part) {
            function(bound_of(total, parts, part), bound_of(total, parts, part + 1));
        },
        wake_for(bytes));
}

}  // namespace hocket::kernel
