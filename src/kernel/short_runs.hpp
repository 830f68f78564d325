// SPDX-License-Identifier: BSD-3-Clause
// Short runs at short distances, as CYCLIC and BLOCK make them of each other: several share a cache
// line on one side, and lie one after another on the other.
#pragma once

#include <cstdint>

#include "kernel/runs.hpp"

namespace hocket::kernel {

/// A loop for runs of `run` bytes that are contiguous on one side and at most a cache line apart on
/// the other, a line at a time in vector registers; null where there is none for them (no AVX-512,
/// too few, lengths that are no multiples of 4 bytes). Bytes between the runs are neither written
/// nor read: they may be another process's, or no memory at all.
RunLoop select_short_run_loop(std::int64_t count, std::int64_t source_stride,
                              std::int64_t destination_stride, std::int64_t run);

}  // namespace hocket::kernel
