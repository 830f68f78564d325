// SPDX-License-Identifier: BSD-3-Clause
// Which dimension of an array is dealt out along which dimension of the processor arrangement, and
// how that changes step by step when the array is permuted but its distribution text stays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/layout.hpp"
#include "layout/form.hpp"

namespace hocket::layout {

/// One change that the processes along a dimension of the arrangement make together.
struct Change {
    enum class Kind {
        deal,  // along `grid`, dimension `to` is dealt out, and `from` becomes whole
        swap   // `grid` and `other` exchange what is dealt out along them
    };
    Kind kind;
    std::size_t grid, from, to, other;
};

/// A layout of plain formats, with its dimensions free to be dealt out along others than their own
/// dimensions of the arrangement. Dimensions are the array's as it was at first, throughout.
class Arrangement {
  public:
    /// @throws LayoutError for alignments, INDIRECT, boxes, and lists of segments or elements.
    explicit Arrangement(const Layout& layout);
    /// Whether a layout has one.
    static bool exists(const layout::Form& form);

    const Shape& shape() const { return layout_.shape(); }
    std::int64_t procs(std::size_t grid) const { return layout_.procs()[grid]; }
    std::size_t grids() const { return held_.size(); }
    /// What is dealt out along a dimension of the arrangement; -1: nothing, it holds copies.
    int held(std::size_t grid) const { return held_[grid]; }
    /// The dimension of the arrangement along which one is dealt out; -1: none, it is whole.
    int grid_of(std::size_t dimension) const;
    /// Indices of `dimension` at a coordinate of `grid`, were it dealt out along that.
    std::int64_t part(std::size_t dimension, std::size_t grid, std::int64_t coordinate) const;
    /// What CYCLIC along a dimension of the arrangement deals out at a time; 0: it is BLOCK.
    std::int64_t cycle_block(std::size_t grid) const;
    /// Whether all processes along `grid` would hold as many indices of a dimension; where that is
    /// dealt out cyclically, in as many whole blocks.
    bool even(std::size_t dimension, std::size_t grid) const;
    /// Indices of `dimension` that a process holds now, and elements.
    std::int64_t extent(std::size_t dimension, std::span<const std::int64_t> coordinates) const;
    std::int64_t elements(std::span<const std::int64_t> coordinates) const;
    /// What the process of this layout holds at most, however the dimensions are dealt out (where
    /// blocks hold whole elements only, a little more than that).
    std::int64_t most_elements(std::span<const std::int64_t> coordinates) const;

    /// The changes, one after another, after which dimension axes[k] lies as dimension k does now.
    /// @throws LayoutError where there is no way, or no layout, naming the formats.
    std::vector<Change> changes_to(std::span<const std::int64_t> axes) const;
    void apply(const Change& change);

  private:
    bool fits(std::size_t dimension, std::size_t grid) const;
    bool alike(std::size_t a, std::size_t b) const;
    void require_distributable(std::size_t grid, std::size_t dimension,
                               std::span<const std::int64_t> axes) const;
    Change next_change(const std::vector<int>& wanted, std::span<const std::int64_t> axes) const;
    int temporary_grid(const std::vector<int>& wanted, std::size_t grid) const;

    Layout layout_;
    std::vector<layout::Format> formats_;  // of each dimension of the arrangement
    std::vector<int> held_;
};

/// The layout of the permuted array: the same formats, arrangement and order of processes.
/// @throws LayoutError if `axes` is no permutation, or there is no such layout.
Layout remapped(const Layout& layout, std::span<const std::int64_t> axes);

}  // namespace hocket::layout
