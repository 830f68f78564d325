// SPDX-License-Identifier: BSD-3-Clause
// The array of one process on one side of a transfer, and the copies between it and messages.
#pragma once

#include <cstdint>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/plan.hpp"
#include "transport/chunks.hpp"

namespace hocket::transfer {

struct LocalView {
    std::int64_t process = -1;  // in the layout of that side; -1: takes no part
    Shape strides;              // bytes
    bool dense = false;         // those of a dense row-major array
};
LocalView local_view_of(const Array& array);
/// Of the process's local array; 0 where it takes no part.
std::int64_t local_bytes(const Layout& layout, const LocalView& place, std::int64_t itemsize);

/// The copies between the array at `place` and a buffer that holds what is exchanged with
/// `part.peers()[peer]` densely from `buffer_offset` on.
std::vector<transport::LocalCopy> copies_of(const plan::Part& part, std::size_t peer, bool sending,
                                            const LocalView& place, std::int64_t itemsize,
                                            std::int64_t buffer_offset);

}  // namespace hocket::transfer
