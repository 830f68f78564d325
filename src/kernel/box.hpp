// SPDX-License-Identifier: BSD-3-Clause
// Boxes: the smallest nest of loops over the same elements, with which every copy begins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/kernel.hpp"

namespace hocket::kernel {

/// A box of bytes in normal form: no loop has extent 1; every destination stride is positive; loops
/// are in decreasing order of destination strides; consecutive loops that are one loop on both
/// sides are fused; the innermost contiguous run is `run` bytes, not a loop.
struct Box {
    std::vector<Loop> loops;
    std::int64_t run = 0;
    std::int64_t bytes = 0;  // 0: nothing to copy, and the other members are undefined
    std::int64_t source_first = 0, destination_first = 0;  // offsets of the first run
};

/// @throws Error if the lists differ in length, an extent is negative, itemsize < 1, or bytes or
///         offsets do not fit 63 bits.
Box make_box(std::span<const std::int64_t> extents, std::int64_t itemsize,
             std::span<const std::int64_t> source_strides,
             std::span<const std::int64_t> destination_strides);

/// Whether the elements are contiguous in row-major order of `extents`.
bool is_dense(std::span<const std::int64_t> extents, std::int64_t itemsize,
              std::span<const std::int64_t> strides);

}  // namespace hocket::kernel
