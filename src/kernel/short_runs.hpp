// SPDX-License-Identifier: BSD-3-Clause
// Short runs at short distances, as between CYCLIC and BLOCK: several share a cache line on one
// side, and are contiguous on the other.
#pragma once

#include <cstdint>

#include "kernel/runs.hpp"

namespace hocket::kernel {

/// A loop for runs of `run` bytes that are contiguous on one side and at most a cache line apart on
/// the other, a line at a time in vector registers; null if there is none (no AVX-512, too few
/// runs, lengths that are no multiples of 4 bytes). It neither reads nor writes bytes between the
/// runs, which may belong to another process, or be unmapped.
RunLoop select_short_run_loop(std::int64_t count, std::int64_t source_stride,
                              std::int64_t destination_stride, std::int64_t run);

}  // namespace hocket::kernel
