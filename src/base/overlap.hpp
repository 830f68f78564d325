// SPDX-License-Identifier: BSD-3-Clause
// Whether two strided boxes of memory share a byte.
#pragma once

#include <cstdint>
#include <span>

namespace hocket::base {

/// The elements at start + sum(index[d] * strides[d]), 0 <= index[d] < extents[d], of `itemsize`
/// bytes each. Strides are in bytes, of any sign.
struct StridedBox {
    std::intptr_t start;
    std::span<const std::int64_t> extents, strides;
    std::int64_t itemsize;
};

/// Whether all elements have addresses from 0 to 2^63. The functions below require it.
bool has_addresses(const StridedBox& box);

/// Exact for boxes of one array, such as x[:, ::2] and x[:, 1::2], and for nearly all others. The
/// exact answer is an integer program; if it would take long, boxes within the same range count as
/// sharing.
bool share_bytes(const StridedBox& a, const StridedBox& b);

/// Whether two elements of the box share a byte, for dimensions that nest: each stride exceeds the
/// extent of all smaller ones. True for a stride of 0, and for dimensions that do not nest.
bool overlaps_itself(const StridedBox& box);

}  // namespace hocket::base
