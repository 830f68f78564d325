// SPDX-License-Identifier: BSD-3-Clause
// A thread's own buffer, kept from one kernel to the next so that its pages are there already.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::kernel {

/// Memory of at least `bytes` bytes, aligned to a cache line, for this thread until it asks again
/// or ends. Its contents are undefined. @throws std::bad_alloc.
std::byte* thread_scratch(std::int64_t bytes);

/// Gives back what this thread holds beyond `keep` bytes.
void trim_thread_scratch(std::int64_t keep);

}  // namespace hocket::kernel
