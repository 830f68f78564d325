// SPDX-License-Identifier: BSD-3-Clause
// An array in pieces that travel one after the other, so that early ones can be used while later
// ones are under way (CDT's fourth way to save time, section 2.2).
#pragma once

#include <cstdint>

#include "hocket/task.hpp"

namespace hocket::task {

/// How the arrays of one transfer are cut: in `count` even parts of one dimension.
class Cut {
  public:
    Cut() = default;  // one piece
    /// Along a dimension that neither side distributes, else one that the receiver does not, else
    /// one that the sender does not, so that in each piece as many as can be have something to send
    /// and to receive; of several along the longest.
    Cut(const Layout& source, const Layout& destination, std::int64_t count);

    std::int64_t count() const { return count_; }
    ArrayPiece piece(std::int64_t number) const;
    Layout layout_of(const Layout& whole, std::int64_t number) const;
    /// This process's part of a piece: a view of the same memory.
    Array array_of(const Array& whole, std::int64_t number) const;

  private:
    std::vector<Slice> slices(const Layout& whole, std::int64_t number) const;
    std::int64_t count_ = 1, dimension_ = 0, extent_ = 0;
};

/// How far a transfer has come on this process.
struct Progress {
    std::optional<Cut> cut;  // once both sides have met
    std::int64_t done = 0;   // pieces
};

}  // namespace hocket::task
