// SPDX-License-Identifier: BSD-3-Clause
// Two pieces of memory change places.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::kernel {

/// Swaps `bytes` bytes; the two do not overlap. On up to `threads` threads of the one pool where
/// that pays.
void swap(std::byte* a, std::byte* b, std::int64_t bytes, int threads = 1);

}  // namespace hocket::kernel
