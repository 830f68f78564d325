// SPDX-License-Identifier: BSD-3-Clause
// Swaps of two memories.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::kernel {

/// Equally long runs, each `pitch` bytes after the one before it.
struct Runs {
    std::int64_t run, pitch;
};

/// Swaps the contents of the same runs of `a` and `b`, from byte `first` to byte `last`, counted
/// through all runs; the two must not overlap. Uses up to `threads` threads of the thread pool if
/// that pays.
void swap(std::byte* a, std::byte* b, Runs runs, std::int64_t first, std::int64_t last,
          int threads = 1);

}  // namespace hocket::kernel
