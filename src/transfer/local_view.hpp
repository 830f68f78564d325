// SPDX-License-Identifier: BSD-3-Clause
// One process's array on one side of a transfer, and the copies between it and messages.
#pragma once

#include <cstdint>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/plan.hpp"
#include "transport/chunks.hpp"

namespace hocket::transfer {

struct LocalView {
    std::int64_t process = -1;  // in the layout of that side; -1: not part of it
    Shape strides;              // bytes
    bool dense = false;         // with the strides of a dense row-major array
};
LocalView local_view_of(const Array& array);
/// The size of the process's local array; 0 if it has none.
std::int64_t local_bytes(const Layout& layout, const LocalView& view, std::int64_t itemsize);

/// The copies between the array of `view` and a buffer that holds the elements exchanged with
/// `part.peers()[peer]` densely from `buffer_offset` on.
std::vector<kernel::OffsetCopy> copies_of(const plan::Part& part, std::size_t peer, bool sending,
                                          const LocalView& view, std::int64_t itemsize,
                                          std::int64_t buffer_offset);

}  // namespace hocket::transfer
