// SPDX-License-Identifier: BSD-3-Clause
// The copies of a message, grouped into parts, so that both its ends can work on it, and so that it
// can pass through a small buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hocket/kernel.hpp"
#include "shm/cma.hpp"

namespace hocket::transport {

struct LocalCopy {
    kernel::Copy copy;
    std::int64_t source_offset, destination_offset;
};

/// Copies in groups, each of which can be run by anybody, in any order.
class Chunks {
  public:
    /// From array to array; or between an array and a buffer that holds one part at a time.
    enum class Kind : unsigned char { between, packing, unpacking };

    Chunks() = default;  // none
    explicit Chunks(Kind kind) : kind_(kind) {}
    /// To the part that is being made.
    void add(kernel::Copy copy, std::int64_t source_offset, std::int64_t destination_offset);
    std::int64_t filled() const { return filled_; }  ///< bytes of that part so far
    /// The next copy begins another part, unless this one has none.
    void end_part();

    std::uint64_t size() const { return ends_.size(); }
    std::int64_t begin(std::uint64_t part) const {  ///< bytes of the parts before it
        return part == 0 ? 0 : ends_[part - 1].bytes;
    }
    std::int64_t bytes_of(std::uint64_t part) const { return ends_[part].bytes - begin(part); }
    /// Where in the array all lies together, in the order of the message; nothing if it does not,
    /// or there is no buffer. The array's offset in bytes.
    std::optional<std::int64_t> together() const;
    std::int64_t largest() const { return largest_; }  ///< bytes of a part
    std::int64_t bytes() const { return begin(size()); }
    void run(std::uint64_t part, const std::byte* source, std::byte* destination,
             kernel::Stores stores = kernel::Stores::automatic) const;

    /// The copy that a part is, if it is one only.
    const LocalCopy* only_copy(std::uint64_t part) const;

    std::int64_t runs() const;  ///< contiguous ones, of all parts
    /// A part of `between`, where the other end is another process's memory: copied from it into
    /// `here`, an array, or from there to it. False if that process is not there any more.
    /// @throws Error as shm::CmaTransfer.
    bool cross(std::uint64_t part, std::byte* here, const shm::SharedAddress& there,
               shm::CmaTransfer::Direction way) const;

  private:
    struct End {
        std::size_t copies;  // of this part and those before
        std::int64_t bytes;  // likewise
    };

    Kind kind_ = Kind::between;
    bool apart_ = false;  // in the array
    std::vector<LocalCopy> copies_;
    std::vector<End> ends_;
    std::int64_t largest_ = 0, filled_ = 0;
};

/// How to write the parts of a message: one by one they may look small enough for the caches.
kernel::Stores stores_for(std::int64_t message_bytes);

}  // namespace hocket::transport
