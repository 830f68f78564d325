// SPDX-License-Identifier: BSD-3-Clause
// The layout of a result, and the layouts that operands need for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hocket/layout.hpp"

namespace hocket::array {

/// Layout::aligned for lists of subscripts; "*" for a dimension without one.
Layout aligned(const Shape& shape, const std::vector<std::string>& own,
               const std::vector<std::string>& others, const Layout& target);
/// The dimensions in another order: dimension k is `layout`'s axes[k].
Layout transposed(const Layout& layout, const std::vector<std::size_t>& axes);
/// The dimensions from the last to the first.
Layout mirrored(const Layout& layout);
/// Without some dimensions, increasing: processes that share the remaining indices hold copies.
Layout without(const Layout& layout, const std::vector<std::size_t>& dims);
/// Without some dimensions, on the processes that hold these indices of them.
Layout without(const Layout& layout, const std::vector<std::size_t>& dims,
               const std::vector<std::int64_t>& indices);
/// With a new dimension before `dim`, which is not distributed.
Layout with(const Layout& layout, std::size_t dim, std::int64_t extent);

/// Even parts of one dimension; by default the first that has enough indices for all processes.
Layout balanced(const Shape& shape, std::int64_t size, std::int64_t dim = -1);
/// The whole array on every process.
Layout replicated(const Shape& shape, std::int64_t size);
/// The given number of row-major elements for each process, one process after the other.
Layout runs(const Shape& shape, const std::vector<std::int64_t>& counts);
/// Even runs of row-major elements.
Layout flat(const Shape& shape, std::int64_t size);
/// A vector with the given number of elements for each process.
Layout parts(const std::vector<std::int64_t>& counts);
/// The formats of `layout` for another shape if they fit; else even parts.
Layout like(const Layout& layout, const Shape& shape);

/// One index of each part into which the processes divide a dimension, of a layout on a grid.
std::vector<std::int64_t> parts_along(const Layout& layout, std::size_t dim);
/// Whether each process holds whole lines along the dimension.
bool is_local(const Layout& layout, std::size_t dim);
/// Whether each element has one owner only.
bool without_copies(const Layout& layout);
/// Whether each process holds consecutive row-major elements, in order, that follow those of the
/// processes before it.
bool is_in_rank_order(const Layout& layout);
/// The number of elements that change their process.
std::int64_t moved(const Layout& source, const Layout& destination);
/// The layout to which all move with the fewest bytes; on a tie the first. All have one shape.
Layout cheapest(const std::vector<std::pair<Layout, std::int64_t>>& layouts_and_itemsizes);

std::int64_t elements_of(const Shape& shape);

}  // namespace hocket::array
