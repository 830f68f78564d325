// SPDX-License-Identifier: BSD-3-Clause
// The copies of a message, grouped into chunks, so that both ends can work on them, and so that
// they can pass through a small buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hocket/kernel.hpp"
#include "kernel/interleave.hpp"
#include "shm/cma.hpp"

namespace hocket::transport {

/// Copies in groups. Either end can run any group, in any order.
class Chunks {
  public:
    /// From array to array; or between an array and a buffer that holds one chunk at a time.
    enum class Kind : unsigned char { between, packing, unpacking };

    Chunks() = default;  // none
    explicit Chunks(Kind kind) : kind_(kind) {}
    Kind kind() const { return kind_; }
    /// Adds a copy to the current chunk.
    void add(kernel::OffsetCopy copy);
    std::int64_t filled() const { return filled_; }  ///< bytes of that chunk so far
    /// The next copy begins another chunk, unless this one is empty.
    void end_part();

    std::uint64_t size() const { return bytes_.size() - 1; }
    std::int64_t begin(std::uint64_t part) const { return bytes_[part]; }  ///< bytes before it
    std::int64_t bytes_of(std::uint64_t part) const { return bytes_[part + 1] - bytes_[part]; }
    /// The array's offset in bytes if all elements are contiguous in it, in the order of the
    /// message; nothing otherwise, and if there is no buffer.
    std::optional<std::int64_t> together() const;
    std::int64_t largest() const { return largest_; }  ///< bytes of the largest chunk
    std::int64_t bytes() const { return bytes_.back(); }
    void run(std::uint64_t part, const std::byte* source, std::byte* destination,
             kernel::Stores stores = kernel::Stores::automatic) const;

    /// The copy of a chunk that has only one.
    const kernel::OffsetCopy* only_copy(std::uint64_t part) const;

    std::int64_t runs() const;  ///< contiguous ones, of all chunks
    /// For a chunk of `between` whose other end is another process's memory: copies from it into
    /// `here`, an array, or (`sending`) from there to it. False if that process has ended.
    /// @throws Error as shm::cma_copy.
    bool cross(std::uint64_t part, std::byte* here, const shm::SharedAddress& there,
               bool sending) const;

  private:
    std::span<const kernel::OffsetCopy> copies_of(std::uint64_t part) const {
        return std::span(copies_).subspan(firsts_[part], firsts_[part + 1] - firsts_[part]);
    }

    Kind kind_ = Kind::between;
    bool apart_ = false;  // in the array
    std::vector<kernel::OffsetCopy> copies_;
    // Of the chunks before each one, and of all.
    std::vector<std::size_t> firsts_{0};  // copies
    std::vector<std::int64_t> bytes_{0};
    std::int64_t largest_ = 0, filled_ = 0;
};

/// The kind of stores for the chunks of a message, or of the elements that stay on a process, which
/// may each look small enough for the caches. `bytes_of_many`: as `Message::bytes_of_many`.
kernel::Stores stores_for(std::int64_t bytes, std::int64_t bytes_of_many = 0);

}  // namespace hocket::transport
