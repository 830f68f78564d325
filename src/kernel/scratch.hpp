// SPDX-License-Identifier: BSD-3-Clause
// A thread's own buffers, kept from one kernel to the next so that their pages are there already.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::kernel {

/// Who uses a buffer: kernels that call each other must not share one.
enum class Scratch {
    stage,  // a block of a copy on its way
    panel,  // what an in-place pass has taken out of the array; filled by copies
};

/// Memory of at least `bytes` bytes, aligned to a page, for this thread until it asks again for
/// the same use or ends. Its contents are undefined. @throws std::bad_alloc.
std::byte* thread_scratch(Scratch use, std::int64_t bytes);

/// Gives back what this thread holds for `use` beyond `keep` bytes.
void trim_thread_scratch(Scratch use, std::int64_t keep);

}  // namespace hocket::kernel
