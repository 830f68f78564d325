// SPDX-License-Identifier: BSD-3-Clause
// Partitions: the owners of positions of a template dimension with unequal blocks.
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

/// The positions [0, extent) as consecutive pieces, each with the coordinate of its owner. For
/// GEN_BLOCK and BALANCED, coordinate c owns piece c; for INDIRECT, the pieces are the runs of
/// equal owner. A look-up takes a binary search; for BALANCED a division. GEN_BLOCK takes 8 bytes a
/// coordinate, INDIRECT 24 a piece.
class Partition {
  public:
    static Partition gen_block(std::span<const std::int64_t> extents);
    static Partition balanced(std::int64_t extent, std::int64_t coordinates);
    /// `runs` have the owner of each position; runs of one owner may be split. Takes O(runs log
    /// runs).
    static Partition indirect(std::span<const OwnedRun> runs);
    static Partition indirect(std::span<const std::int64_t> owners);

    std::int64_t extent() const { return extent_; }
    std::int64_t pieces() const { return pieces_; }
    /// True if coordinate c owns piece c.
    bool in_order() const { return owners_.empty(); }
    /// The first position of a piece; for pieces(): the extent.
    std::int64_t begin(std::int64_t piece) const;
    std::int64_t owner_of(std::int64_t piece) const {
        return in_order() ? piece : owners_[static_cast<std::size_t>(piece)];
    }
    /// The piece that contains a position.
    std::int64_t piece_at(std::int64_t position) const;
    std::int64_t owner(std::int64_t position) const { return owner_of(piece_at(position)); }
    /// The positions of [low, high) that coordinates [first, last) own, increasing and disjoint.
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
