// SPDX-License-Identifier: BSD-3-Clause
// The smallest nest of loops that names the same elements: what every copy begins with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/kernel.hpp"

namespace hocket::kernel {

/// A box of bytes in normal form. Loops of extent 1 are gone; every destination stride is positive;
/// loops are ordered by destination stride, the largest outermost; neighbours that are one loop on
/// both sides are fused; the innermost contiguous run is `run` bytes and no loop.
struct Box {
    std::vector<Loop> loops;
    std::int64_t run = 0;
    std::int64_t bytes = 0;  // 0: nothing to copy, and the rest means nothing
    std::int64_t source_first = 0, destination_first = 0;  // offsets of the first run
};

/// @throws Error if the lists differ in length, an extent is negative, itemsize < 1, or bytes or
///         offsets do not fit 63 bits.
Box make_box(std::span<const std::int64_t> extents, std::int64_t itemsize,
             std::span<const std::int64_t> source_strides,
             std::span<const std::int64_t> destination_strides);

/// Whether the elements lie one after another in row-major order of `extents`.
bool is_dense(std::span<const std::int64_t> extents, std::int64_t itemsize,
              std::span<const std::int64_t> strides);

}  // namespace hocket::kernel
