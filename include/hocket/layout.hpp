// SPDX-License-Identifier: BSD-3-Clause
// How a global N-d array lies over a processor arrangement. Pure values: no MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/error.hpp"

namespace hocket {

using Shape = std::vector<std::int64_t>;

namespace layout {
struct Form;  // the index algebra behind a Layout; src/layout/form.hpp
}

/// How a global array lies over `size()` processes (HPF 1.0, chapter 3). A cheap value to copy;
/// equal when shape, size and every process's index sets are equal.
///
/// Process r sits at row-major position r of `procs()`. A local array is dense, row-major, its
/// elements in increasing global index order in every dimension.
class Layout {
  public:
    /// `dist` is HPF text with one format a dimension, any case: "(BLOCK, CYCLIC(3), *)".
    /// `procs` has one extent for each dimension that is not `*`, in order, and one at each
    /// position named in `replicate`, which belongs to no dimension and holds copies.
    /// @throws LayoutError for malformed text (pointing at the character) and extents that do not
    ///         fit.
    Layout(Shape shape, std::string_view dist, Shape procs = {},
           std::span<const std::int64_t> replicate = {});

    /// The layout whose `text()` this is.
    static Layout parse(std::string_view text);
    /// The same of a text that may leave out the shape: "(BLOCK, *) @ 4".
    static Layout parse(std::string_view text, const Shape& shape);

    const Shape& shape() const;
    const std::string& dist() const;  ///< HPF text as `(BLOCK, CYCLIC(3), *)`
    const Shape& procs() const;
    const Shape& replicate() const;
    std::int64_t size() const;      ///< number of processes
    std::int64_t elements() const;  ///< number of elements of the global array
    std::size_t dimensions() const { return shape().size(); }

    /// Extents of process `rank`'s local array. @throws LayoutError if there is no such process.
    Shape local_shape(std::int64_t rank) const;
    /// Number of elements there: 0 also where `local_shape` has no extents to say so.
    std::int64_t local_elements(std::int64_t rank) const;
    /// For each dimension the global indices that process `rank` holds, increasing.
    std::vector<std::vector<std::int64_t>> global_indices(std::int64_t rank) const;
    /// Every process that holds the element, increasing. @throws LayoutError outside the shape.
    std::vector<std::int64_t> owners(std::span<const std::int64_t> index) const;
    /// The lowest of `owners`. @throws LayoutError also where nobody holds the element.
    std::int64_t owner(std::span<const std::int64_t> index) const;
    /// Where the element lies in an owner's local array.
    Shape local_index(std::span<const std::int64_t> index) const;

    std::string text() const;  ///< one line; `parse(text())` gives the layout back
    std::size_t hash() const;  ///< equal for equal layouts
    friend bool operator==(const Layout& a, const Layout& b);

    /// For the rooms of the library only.
    explicit Layout(std::shared_ptr<const layout::Form> form) : form_(std::move(form)) {}
    const layout::Form& form() const { return *form_; }

  private:
    std::shared_ptr<const layout::Form> form_;
};

}  // namespace hocket

template <>
struct std::hash<hocket::Layout> {
    std::size_t operator()(const hocket::Layout& layout) const { return layout.hash(); }
};
