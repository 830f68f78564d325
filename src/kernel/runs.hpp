// SPDX-License-Identifier: BSD-3-Clause
// Copies of equally long contiguous runs, nested in any number of strided loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hocket/kernel.hpp"

namespace hocket::kernel {

/// Copies `count` runs of `run` bytes, `source_stride` and `destination_stride` bytes apart.
using RunLoop = void (*)(const std::byte* source, std::byte* destination, std::int64_t count,
                         std::int64_t source_stride, std::int64_t destination_stride,
                         std::int64_t run);

/// The loop for runs of `run` bytes: short runs have loops with a constant length.
RunLoop select_run_loop(std::int64_t run);

/// Copies the bytes [first, last) of a box, counted in the order of its loops; past the caches if
/// `streaming` is set and whole cache lines are written. `fetches`: runs are prefetched.
void copy_runs(const std::byte* source, std::byte* destination, std::span<const Loop> loops,
               std::int64_t run, bool streaming, bool fetches, std::int64_t first,
               std::int64_t last);

}  // namespace hocket::kernel
