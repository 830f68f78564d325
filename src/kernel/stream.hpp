// SPDX-License-Identifier: BSD-3-Clause
// Streaming stores, which bypass the caches: they do not read the destination's lines first (a
// third of the traffic of a plain copy), and do not evict cached data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::kernel {

/// Copies `bytes` bytes; whole cache lines of the destination by streaming stores, where the
/// processor has them. Another thread sees the bytes only after `stream_fence()` on this one.
using StreamCopy = void (*)(std::byte* destination, const std::byte* source, std::int64_t bytes);

/// The rows of a copy that are written past the caches.
enum class Streaming {
    none,
    conflicting,  // rows that evict each other from the caches before their lines are complete
    all,
};

/// The cache into which kernels prefetch what they need soon. The first level has place for a few
/// KiB only, but some processors fetch more lines at a time into it.
enum class Fetching { second_level, first_level };

/// The fastest one of this processor.
StreamCopy select_stream_copy();

/// Copies by ordinary stores.
void copy_cached(std::byte* destination, const std::byte* source, std::int64_t bytes);

/// As `copy_cached`; meanwhile prefetches as many bytes from `next` on.
void copy_and_fetch(std::byte* destination, const std::byte* source, std::int64_t bytes,
                    const std::byte* next);

/// Orders the streaming stores before every later store of this thread.
void stream_fence();

/// The size from which a copy past the caches is faster, although the next reader of the
/// destination finds it in memory.
std::int64_t least_streamed_bytes();

}  // namespace hocket::kernel
