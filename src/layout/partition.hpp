// SPDX-License-Identifier: BSD-3-Clause
// Which coordinate owns which positions of a template dimension, where its blocks are not equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hocket::layout {

/// `length` consecutive indices.
struct Run {
    std::int64_t first;
    std::int64_t length;
    friend bool operator==(const Run&, const Run&) = default;
};

/// `length` consecutive positions of one owner.
struct OwnedRun {
    std::int64_t length;
    std::int64_t owner;
};

/// The positions [0, extent) as consecutive pieces, each with the coordinate that owns it. Of
/// GEN_BLOCK and BALANCED piece c is coordinate c's; of INDIRECT the pieces are the runs of equal
/// owner. A look-up costs a binary search, of BALANCED a division. GEN_BLOCK takes 8 bytes a
/// coordinate, INDIRECT 24 a piece.
class Partition {
  public:
    static Partition gen_block(std::span<const std::int64_t> extents);
    static Partition balanced(std::int64_t extent, std::int64_t coordinates);
    /// The owner of each position; runs of one owner may be split. Costs O(runs log runs).
    static Partition indirect(std::span<const OwnedRun> runs);
    static Partition indirect(std::span<const std::int64_t> owners);

    std::int64_t extent() const { return extent_; }
    std::int64_t pieces() const { return pieces_; }
    /// True where piece c is coordinate c's.
    bool in_order() const { return owners_.empty(); }
    /// Where a piece begins; of pieces(): the extent.
    std::int64_t begin(std::int64_t piece) const;
    std::int64_t owner_of(std::int64_t piece) const {
        return in_order() ? piece : owners_[static_cast<std::size_t>(piece)];
    }
    /// The piece that a position lies in.
    std::int64_t piece_at(std::int64_t position) const;
    std::int64_t owner(std::int64_t position) const { return owner_of(piece_at(position)); }
    /// What coordinates [first, last) own of the positions [low, high), increasing and apart.
    std::vector<Run> owned(std::int64_t first, std::int64_t last, std::int64_t low,
                           std::int64_t high) const;

    friend bool operator==(const Partition&, const Partition&) = default;

  private:
    std::int64_t extent_ = 0, pieces_ = 0;
    std::vector<std::int64_t> begins_;    // one a piece and the extent; empty: balanced
    std::vector<std::int64_t> owners_;    // one a piece; empty: in order
    std::vector<std::int64_t> by_owner_;  // numbers of the pieces, sorted by owner, then number
};

}  // namespace hocket::layout
