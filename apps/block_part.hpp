// SPDX-License-Identifier: BSD-3-Clause
// One process's part of one block of the Poisson solver, and a Jacobi step of it.
#pragma once

#include <optional>
#include <vector>

#include "geometry.hpp"
#include "hocket/flow.hpp"
#include "hocket/halo.hpp"

namespace apps {

/// Local points [first, last) of each dimension.
struct Window {
    std::int64_t row, row_end, col, col_end;
};

/// The solution twice, with a border each: a step reads the one of its `turn` (0 or 1) and writes
/// the other. Outside of the blocks it is 0.
class BlockPart {
  public:
    BlockPart(const Block& block, const hocket::Comm& comm);

    const hocket::Array& solution(std::size_t turn) const { return halos_[turn]->array(); }
    /// The strip of this block's own points along an edge.
    hocket::Array own(const Edge& edge, std::size_t turn) const;
    /// The strip of border beside it, which belongs to the other block: on the same processes, one
    /// point further out.
    hocket::Array border(const Edge& edge, std::size_t turn) const;
    const hocket::Halo& halo(std::size_t turn) const { return *halos_[turn]; }

    /// A Jacobi step of the points of a window, without communication; the largest change.
    double sweep(std::size_t turn, const Window& window) const;

    Window everything() const { return {0, rows(), 0, cols()}; }
    /// The points that only this process uses, in bands of some rows each, between which it can do
    /// other work.
    std::vector<Window> bands() const;
    /// The outermost points, which need the border, and which neighbours need.
    std::vector<Window> rim() const;
    /// The border: beyond the rim, at -1 and after the last index.
    std::vector<Window> beyond() const;
    /// Memory of a window, which may reach one point beyond the local ones.
    hocket::Region region(std::size_t turn, const Window& window) const;

  private:
    std::int64_t rows() const { return static_cast<std::int64_t>(held_[0].size()); }
    std::int64_t cols() const { return static_cast<std::int64_t>(held_[1].size()); }

    Block block_;
    hocket::Layout layout_;
    std::optional<hocket::Halo> halos_[2];
    // This process's indices of each dimension; none if the part is empty.
    std::vector<std::vector<std::int64_t>> held_ = std::vector<std::vector<std::int64_t>>(2);
};

}  // namespace apps
