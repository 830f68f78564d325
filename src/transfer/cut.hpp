// SPDX-License-Identifier: BSD-3-Clause
// Divides the common boxes of two processes into chunks.
#pragma once

#include <cstdint>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/plan.hpp"
#include "transport/message.hpp"

namespace hocket::transfer {

using transport::Chunks;

/// The copy of a box between arrays of these strides, in bytes. A side without strides is a buffer
/// that holds the box densely from `buffer_offset` on.
kernel::OffsetCopy copy_of(const plan::Box& box, std::int64_t itemsize, const Shape* source,
                           const Shape* destination, std::int64_t buffer_offset);

/// The boxes of one message, with the array strides, in bytes, of the known ends.
struct MessageBoxes {
    std::vector<plan::Box> boxes;
    std::int64_t itemsize = 1;
    Shape source, destination;

    std::int64_t bytes() const;
};

/// Both ends of a message must pass the same `part_bytes`.
Chunks cut(const MessageBoxes& message, Chunks::Kind kind, std::int64_t part_bytes);

/// The size of chunks: large enough for a copy to run at full speed, small enough for a buffer in
/// cache. Elements that one message skips in a cache line are still cached for the next message.
/// Both ends of a message compute the same size.
std::int64_t bytes_of_part(const MessageBoxes& message);

/// A message of these boxes, of which this end knows the strides of both arrays. `publishes`: this
/// end's array has the strides that the other end expects.
transport::Message message_of(MessageBoxes boxes, std::int64_t peer, std::int64_t turn,
                              bool publishes);
/// A message of bytes that lie together at both ends, here at `offset`.
transport::Message message_of(std::int64_t offset, std::int64_t bytes, bool sending,
                              std::int64_t peer, std::int64_t turn);

}  // namespace hocket::transfer
