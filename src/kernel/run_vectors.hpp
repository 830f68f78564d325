// SPDX-License-Identifier: BSD-3-Clause
// Runs of 32 bytes to 2 KiB as vectors, inline: a call of the C library for each run takes as long
// as moving 200 bytes in the first-level cache.
#pragma once

#include <cstdint>

#include "kernel/runs.hpp"

namespace hocket::kernel {

/// Longer runs are copied one by one.
constexpr std::int64_t longest_vector_run = 2048;

/// The loop for runs of this length; null if the processor has no such vectors, or for other
/// lengths.
RunLoop select_vector_run_loop(std::int64_t run);

}  // namespace hocket::kernel
