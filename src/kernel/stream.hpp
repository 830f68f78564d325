// SPDX-License-Identifier: BSD-3-Clause
// Stores that go past the caches: the destination's lines are not read first (a third of the
// traffic of a plain copy), and what the caches hold stays there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::kernel {

/// Copies `bytes` bytes; whole cache lines of the destination by streaming stores, where the
/// processor has them. Another thread sees the bytes only after `stream_fence()` on this one.
using StreamCopy = void (*)(std::byte* destination, const std::byte* source, std::int64_t bytes);

/// The fastest one this processor has.
StreamCopy select_stream_copy();

/// The same by ordinary stores.
void copy_cached(std::byte* destination, const std::byte* source, std::int64_t bytes);

/// Orders the streaming stores before every later store of this thread.
void stream_fence();

/// From so many bytes a copy is faster past the caches, even though whoever reads the destination
/// next finds it in memory.
std::int64_t least_streamed_bytes();

}  // namespace hocket::kernel
