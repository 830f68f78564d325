// SPDX-License-Identifier: BSD-3-Clause
// What two processes have in common, as boxes of a plan, cut into the parts in which it moves.
#pragma once

#include <cstdint>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/plan.hpp"
#include "transport/message.hpp"

namespace hocket::transfer {

using transport::Chunks;

/// A box's extents, and its strides in bytes in a buffer that holds it densely; likewise, and where
/// its first element lies, in arrays of given strides.
struct Strided {
    Strided(const plan::Box& of, std::int64_t itemsize);
    Shape in_source(const Shape& strides) const;
    Shape in_destination(const Shape& strides) const;
    std::int64_t source_offset(const Shape& strides) const;
    std::int64_t destination_offset(const Shape& strides) const;

    const plan::Box& box;
    Shape extents, dense;
    std::int64_t elements = 1;
};

/// The boxes of one message with the array strides, in bytes, of the ends that are known here.
struct Boxes {
    std::vector<plan::Box> boxes;
    std::int64_t itemsize = 1;
    Shape source, destination;

    std::int64_t bytes() const;
};

/// Both ends of a message must ask for the same `part_bytes`.
Chunks cut(const Boxes& message, Chunks::Kind kind, std::int64_t part_bytes);

/// Parts that are large enough for a copy to run at full speed, and few, but small enough to pass
/// through a buffer in cache, and that what one message leaves out of either side's cache lines the
/// next one still finds in cache. Both ends of a message find the same.
std::int64_t bytes_of_part(const Boxes& message);

/// A message of these boxes, of which this end knows the strides of both arrays. `publishes`: this
/// end's array has the strides that the other end expects.
transport::Message message_of(Boxes boxes, std::int64_t peer, std::int64_t turn, bool publishes);
/// A message of bytes that lie together at both ends, here at `offset`.
transport::Message message_of(std::int64_t offset, std::int64_t bytes, bool sending,
                              std::int64_t peer, std::int64_t turn);

}  // namespace hocket::transfer
