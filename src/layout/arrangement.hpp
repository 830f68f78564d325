// SPDX-License-Identifier: BSD-3-Clause
// Assignment of array dimensions to dimensions of the processor arrangement, and its changes when
// the array is permuted but its distribution text stays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hocket/layout.hpp"
#include "layout/form.hpp"

namespace hocket::layout {

/// One change, by all processes along a dimension of the arrangement.
struct Change {
    enum class Kind {
        deal,  // distributes dimension `to` along `grid`; `from` becomes undistributed
        swap   // `grid` and `other` exchange their dimensions
    };
    Kind kind;
    std::size_t grid, from, to, other;
};

/// A layout of plain formats whose dimensions can be distributed along any dimension of the
/// arrangement. Dimensions are those of the original array throughout.
class Arrangement {
  public:
    /// @throws LayoutError for alignments, INDIRECT, boxes, and lists of segments or elements.
    explicit Arrangement(const Layout& layout);
    /// Whether a layout has an arrangement.
    static bool exists(const layout::Form& form);

    const Shape& shape() const { return layout_.shape(); }
    std::int64_t procs(std::size_t grid) const { return layout_.procs()[grid]; }
    std::size_t grids() const { return held_.size(); }
    /// The dimension distributed along a dimension of the arrangement; -1: none, it holds copies.
    int held(std::size_t grid) const { return held_[grid]; }
    /// The dimension of the arrangement along which `dimension` is distributed; -1: none.
    int grid_of(std::size_t dimension) const;
    /// Number of indices of `dimension` at a coordinate of `grid`, if it were distributed along it.
    std::int64_t part(std::size_t dimension, std::size_t grid, std::int64_t coordinate) const;
    /// The block size of CYCLIC along a dimension of the arrangement; 0: BLOCK.
    std::int64_t cycle_block(std::size_t grid) const;
    /// Whether all processes along `grid` would hold equally many indices of a dimension; for
    /// CYCLIC, equally many whole blocks.
    bool even(std::size_t dimension, std::size_t grid) const;
    /// The number of indices of `dimension`, and of elements, that a process holds now.
    std::int64_t extent(std::size_t dimension, std::span<const std::int64_t> coordinates) const;
    std::int64_t elements(std::span<const std::int64_t> coordinates) const;
    /// An upper bound on the elements of this process, over all assignments (a little above the
    /// maximum if blocks hold whole elements only).
    std::int64_t most_elements(std::span<const std::int64_t> coordinates) const;

    /// The changes after which dimension axes[k] has the distribution that dimension k has now.
    /// @throws LayoutError if there are none, or no layout; names the formats.
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
