// SPDX-License-Identifier: BSD-3-Clause
// One process's part of a plan, made ready for arrays of given strides: which messages to send and
// receive, and the copies that pack, unpack and stay. Holds no buffer and no array.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/kernel.hpp"
#include "hocket/plan.hpp"

namespace hocket::transfer {

struct Piece {
    kernel::Copy copy;  // from the array to the buffer, or back
    std::int64_t array_offset, buffer_offset;
};

struct Message {
    std::int64_t peer;  // process of the other layout
    std::int64_t bytes;
    std::int64_t buffer_offset;
    std::vector<Piece> pieces;
    // The elements already lie together, in order, in the array: nothing is packed, the message
    // goes from or to the array at pieces[0].array_offset.
    bool in_place;
};

struct LocalCopy {
    kernel::Copy copy;
    std::int64_t source_offset, destination_offset;
};

// Where the receiver can read the sender's memory, one copy moves a message; below this many bytes
// telling where the memory is costs more than packing.
inline constexpr std::int64_t direct_from = std::int64_t{1} << 15;

struct Work {
    std::vector<Message> sends, receives;  // in the order in which to start them
    std::vector<LocalCopy> copies;         // what stays on this process
    // For each of `receives` of `direct_from` bytes or more: straight from the sender's array, if
    // that is dense.
    std::vector<std::vector<LocalCopy>> direct;
    std::int64_t send_buffer = 0, receive_buffer = 0;  // bytes
};

/// One side of a transfer as this process sees it.
struct Place {
    std::int64_t process = -1;  // in the layout of that side; -1: takes no part
    Shape strides;              // bytes
    bool dense = false;         // those of a dense row-major array
};
Place place_on(const Array& array);

/// @throws LayoutError as the plan does.
Work make_work(const Plan& plan, const Place& source, const Place& destination);

/// The same from a bounded cache, keyed by value; `options` as for the plan.
struct Cached {
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<const Work> work;
};
Cached cached_work(const Layout& source_layout, const Layout& destination_layout,
                   const plan::Options& options, const Place& source, const Place& destination);

}  // namespace hocket::transfer
