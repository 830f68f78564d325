// SPDX-License-Identifier: BSD-3-Clause
// Division of an array into pieces that travel one after the other, so that the program can use
// early pieces while later ones are under way (CDT's fourth way to save time, section 2.2).
#pragma once

#include <cstdint>

#include "hocket/task.hpp"

namespace hocket::task {

/// The pieces of one transfer: `count` even parts of one dimension.
class Cut {
  public:
    Cut() = default;  // one piece
    /// Chooses a dimension that neither side distributes, else one that the receiver does not
    /// distribute, else one that the sender does not, so that most processes send or receive in
    /// every piece; the longest if there are several.
    Cut(const Layout& source, const Layout& destination, std::int64_t count);

    std::int64_t count() const { return count_; }
    ArrayPiece piece(std::int64_t number) const;
    Layout layout_of(const Layout& whole, std::int64_t number) const;
    /// This process's part of a piece: a view of the same memory.
    Array array_of(const Array& whole, std::int64_t number) const;
    /// The pieces, from the first on, that are complete on this process.
    std::int64_t done = 0;

  private:
    std::vector<Slice> slices(const Layout& whole, std::int64_t number) const;
    std::int64_t count_ = 1, dimension_ = 0, extent_ = 0;
};

}  // namespace hocket::task
