// SPDX-License-Identifier: BSD-3-Clause
// A message between near processes cut into parts, so that both can work on it, and so that it can
// pass through a small buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/kernel.hpp"
#include "hocket/plan.hpp"
#include "shm/foreign.hpp"

namespace hocket::transfer {

struct LocalCopy {
    kernel::Copy copy;
    std::int64_t source_offset, destination_offset;
};

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

/// Copies in groups, each of which can be run by anybody, in any order.
class Parts {
  public:
    Parts() = default;  // none
    /// From array to array. Both ends of the message must ask for the same `part_bytes`.
    static Parts between(const Boxes& message, std::int64_t part_bytes);
    /// Between an array and a buffer that holds one part at a time.
    static Parts packing(const Boxes& message, std::int64_t part_bytes);
    static Parts unpacking(const Boxes& message, std::int64_t part_bytes);

    std::uint64_t size() const { return ends_.size(); }
    std::int64_t begin(std::uint64_t part) const {  ///< bytes of the parts before it
        return part == 0 ? 0 : ends_[part - 1].bytes;
    }
    std::int64_t bytes_of(std::uint64_t part) const { return ends_[part].bytes - begin(part); }
    /// Where in the array all lies together, in the order of the message; nothing if it does not,
    /// or there is no buffer. The array's offset in bytes.
    std::optional<std::int64_t> together() const;
    std::int64_t largest() const { return largest_; }  ///< bytes of a part
    std::int64_t bytes() const { return bytes_; }
    void run(std::uint64_t part, const std::byte* source, std::byte* destination,
             kernel::Stores stores = kernel::Stores::automatic) const;

    /// The copy that a part is, if it is one only.
    const LocalCopy* only_copy(std::uint64_t part) const;

    std::int64_t runs() const;  ///< contiguous ones, of all parts
    /// A part of `between`, where the other end is another process's memory: copied from it into
    /// `here`, an array, or from there to it. False if that process is not there any more.
    /// @throws Error as shm::Crossing.
    bool cross(std::uint64_t part, std::byte* here, const shm::Place& there,
               shm::Crossing::Way way) const;

  private:
    enum class Kind { between, packing, unpacking };
    struct End {
        std::size_t copies;  // of this part and those before
        std::int64_t bytes;  // likewise
    };
    Parts(const Boxes& message, std::int64_t part_bytes, Kind kind);

    Kind kind_ = Kind::between;
    std::vector<LocalCopy> copies_;
    std::vector<End> ends_;
    std::int64_t largest_ = 0, bytes_ = 0;
};

/// How to write the parts of a message: one by one they may look small enough for the caches.
kernel::Stores stores_for(std::int64_t message_bytes);

/// Parts that are large enough for a copy to run at full speed, and few, but small enough to pass
/// through a buffer in cache, and that what one message leaves out of either side's cache lines the
/// next one still finds in cache. Both ends of a message find the same.
std::int64_t bytes_of_part(const Boxes& message);

}  // namespace hocket::transfer
