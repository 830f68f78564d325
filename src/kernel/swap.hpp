// SPDX-License-Identifier: BSD-3-Clause
// Pieces of two memories change places.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::kernel {

/// Equally long runs, each `pitch` bytes behind the one before it.
struct Runs {
    std::int64_t run, pitch;
};

/// Swaps what lies in the same runs of both, from byte `first` of the runs' own (counted through
/// them all) to byte `last`; the two do not overlap. On up to `threads` threads of the one pool
/// where that pays.
void swap(std::byte* a, std::byte* b, Runs runs, std::int64_t first, std::int64_t last,
          int threads = 1);

}  // namespace hocket::kernel
