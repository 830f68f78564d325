// SPDX-License-Identifier: BSD-3-Clause
// Buffers of a thread, kept from one kernel to the next so that their pages stay mapped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::kernel {

/// The user of a buffer: kernels that call each other must not share one.
enum class Scratch {
    stage,  // a block of a copy under way
    panel,  // the part of an array that an in-place pass has read; filled by copies
};

/// Memory of at least `bytes` bytes, aligned to a page, for this thread until it asks again for
/// the same use or ends. Its contents are undefined. @throws std::bad_alloc.
std::byte* thread_scratch(Scratch use, std::int64_t bytes);

/// Frees this thread's buffer for `use` beyond `keep` bytes.
void trim_thread_scratch(Scratch use, std::int64_t keep);

}  // namespace hocket::kernel
