// SPDX-License-Identifier: BSD-3-Clause
// How a global N-d array lies over a processor arrangement. Pure values: no MPI.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/error.hpp"

namespace hocket {

using Shape = std::vector<std::int64_t>;

namespace layout {
struct Form;  // the index algebra behind a Layout; src/layout/form.hpp
struct Format;
}  // namespace layout

/// `length` elements from row-major place `first` on.
struct Segment {
    std::int64_t first;
    std::int64_t length;
};

/// Indices first, first + step, ... (`count` of them) of one dimension; `keep` false: that
/// dimension is dropped, as by an integer index in NumPy (then count is 1).
struct Slice {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t step = 1;
    bool keep = true;
};

/// Indices start[d] <= i < stop[d] of each dimension d.
struct IndexBox {
    Shape start, stop;
    friend bool operator==(const IndexBox&, const IndexBox&) = default;
};

/// ScaLAPACK's array descriptor: DTYPE_ (1), CTXT_, M_, N_, MB_, NB_, RSRC_, CSRC_, LLD_.
using BlacsDescriptor = std::array<std::int64_t, 9>;

/// A process grid of BLACS: `processes[p * columns + q]` is at row p and column q, as
/// BLACS_GRIDMAP takes them. None: 0, 1, 2, ... row by row, as BLACS_GRIDINIT('R') numbers them.
struct BlacsGrid {
    std::int64_t rows = 1, columns = 1;
    std::vector<std::int64_t> processes{};
};

/// How one dimension is distributed. A cheap value to copy: layouts share a map's memory.
class Format {
  public:
    /// HPF text: "BLOCK", "CYCLIC(3)", "GEN_BLOCK(3, 3, 2)", "BALANCED", "*", any case.
    /// @throws LayoutError for malformed text, pointing at the character.
    Format(const char* text)  // NOLINT(google-explicit-constructor)
        : Format(std::string_view(text)) {}
    Format(std::string_view text);  // NOLINT(google-explicit-constructor)
    /// GEN_BLOCK: process k holds the next `extents[k]` indices. @throws LayoutError for negative
    /// extents.
    static Format gen_block(std::span<const std::int64_t> extents);
    /// INDIRECT: process `owners[i]` holds index i. Takes 24 bytes for each run of equal owners,
    /// and O(n log n) time. @throws LayoutError for negative owners.
    static Format indirect(std::span<const std::int64_t> owners);
    std::string text() const;

    /// For the rooms of the library only.
    const layout::Format& format() const { return *format_; }

  private:
    explicit Format(std::shared_ptr<const layout::Format> format) : format_(std::move(format)) {}
    std::shared_ptr<const layout::Format> format_;
};

/// How a global array is distributed over `size()` processes (HPF 1.0, chapter 3; HPF 2.0, chapter
/// 8). A cheap value to copy; equal when shape, size and every process's index sets are equal.
/// Boxes, elements and explicit segments equal only their own kind.
///
/// Process r sits at row-major position r of `procs()`. A local array is dense, row-major, its
/// elements in increasing global index order in every dimension; of a section, in the order of the
/// slices; of listed elements, in the given order.
class Layout {
  public:
    /// `dist` is HPF text with one format a dimension, any case: "(BLOCK, CYCLIC(3), *)".
    /// `procs` has one extent for each dimension that is not `*`, in order, and one at each
    /// position named in `replicate`, which belongs to no dimension and holds copies.
    /// @throws LayoutError for malformed text (pointing at the character) and extents that do not
    ///         fit.
    Layout(Shape shape, std::string_view dist, Shape procs = {},
           std::span<const std::int64_t> replicate = {});

    /// The same with a format a dimension: {"BLOCK", Format::indirect(owners), "*"}.
    Layout(Shape shape, std::span<const Format> formats, Shape procs = {},
           std::span<const std::int64_t> replicate = {});
    Layout(Shape shape, std::initializer_list<Format> formats, Shape procs = {},
           std::span<const std::int64_t> replicate = {})
        : Layout(std::move(shape), std::span(formats.begin(), formats.size()), std::move(procs),
                 replicate) {}

    /// An array aligned with a template: `align` is HPF text "A(i,j) WITH T(2*j+1, i, *)", indices
    /// from 0. A subscript is `a*i+b` in one dummy, a constant (other processes hold nothing), or
    /// `*` in the template (copies along that dimension) or in the array (that dimension is not
    /// distributed). Negative strides are legal. @throws LayoutError for malformed text (pointing
    /// at the character), and subscripts that leave the template. `first`: where indices of the
    /// text begin instead, 1 in Fortran.
    static Layout aligned(Shape shape, std::string_view align, const Layout& target,
                          std::int64_t first = 0);
    /// Explicit segments of the row-major flattened array: `segments[r]` are process r's, which its
    /// one-dimensional local array holds in increasing order. Gaps belong to nobody.
    /// @throws LayoutError for segments that overlap or leave the array.
    static Layout indexed(Shape shape, const std::vector<std::vector<Segment>>& segments);
    /// Any box of indices a process: bricks. Boxes may leave gaps, which belong to nobody;
    /// overlapping ones hold copies. Takes O(P log P) time.
    /// @throws LayoutError for boxes that leave the shape, or stop before they start.
    static Layout boxes(Shape shape, std::span<const IndexBox> boxes);
    /// Row-major element numbers: `lists[r]` are process r's, in the order of its one-dimensional
    /// local array. An element on several processes is copies; gaps belong to nobody.
    /// @throws LayoutError for numbers outside the array, and one that comes twice on a process.
    static Layout elements(Shape shape, const std::vector<std::vector<std::int64_t>>& lists);
    /// The layout of a ScaLAPACK matrix, whose local arrays are column-major with LLD_ for the
    /// distance of columns. `transposed`: of its transpose, whose local arrays are the same memory,
    /// row-major. `rank` says whose descriptor it is, so that LLD_ is checked; -1: it is not.
    /// @throws LayoutError for a descriptor of another grid, and what ScaLAPACK refuses.
    static Layout from_blacs(const BlacsDescriptor& descriptor, const BlacsGrid& grid,
                             std::int64_t rank = -1, bool transposed = false);
    /// Every array that the directives of a Fortran program distribute or align, by name as
    /// declared, in order (HPF 1.0, chapter 3): PROCESSORS, TEMPLATE, ALIGN, DISTRIBUTE, and
    /// declarations, in free or fixed form; other lines are passed over. `parameters` gives names
    /// values that the text does not, NUMBER_OF_PROCESSORS() among them. Dimensions keep Fortran's
    /// order; indices become 0-based.
    static std::vector<std::pair<std::string, Layout>> from_hpf(
        std::string_view text,
        const std::vector<std::pair<std::string, std::int64_t>>& parameters = {});

    /// The layout of a[slices]: one slice a dimension. Its elements are numbered on their own, in
    /// the order of the slices. @throws LayoutError for slices that leave the shape.
    Layout section(std::span<const Slice> slices) const;
    /// For each dimension the local indices, in this layout's local array on process `rank`, of the
    /// elements of a section that the process holds, in the section's order; one for a dimension
    /// that is dropped. (Of explicit segments: one list of local places.)
    std::vector<std::vector<std::int64_t>> section_places(std::span<const Slice> slices,
                                                          std::int64_t rank) const;
    /// The same parts held by other processes: process `ranks[r]` holds what process r held.
    /// `size`: number of processes, 0: the highest named and those below; the others hold nothing.
    Layout relabeled(std::span<const std::int64_t> ranks, std::int64_t size = 0) const;

    /// The layout whose `text()` this is.
    static Layout parse(std::string_view text);
    /// The same of a text that may leave out the shape: "(BLOCK, *) @ 4".
    static Layout parse(std::string_view text, const Shape& shape);

    const Shape& shape() const;
    const std::string& dist() const;  ///< HPF text as `(BLOCK, CYCLIC(3), *)`, or the alignment
    const Shape& procs() const;
    const Shape& replicate() const;
    std::int64_t size() const;          ///< number of processes
    std::int64_t num_elements() const;  ///< number of elements of the global array
    /// True for explicit segments and listed elements, whose local arrays have one dimension.
    bool is_indexed() const;
    std::size_t dimensions() const { return shape().size(); }

    /// Extents of process `rank`'s local array (of explicit segments: one). @throws LayoutError if
    /// there is no such process.
    Shape local_shape(std::int64_t rank) const;
    /// Number of elements there: 0 also where `local_shape` has no extents to say so.
    std::int64_t local_elements(std::int64_t rank) const;
    /// For each dimension the global indices that process `rank` holds, increasing (of explicit
    /// segments and listed elements: one list of row-major places, in the local array's order).
    std::vector<std::vector<std::int64_t>> global_indices(std::int64_t rank) const;
    /// Process `rank`'s part as one slice a dimension. @throws LayoutError where its indices of a
    /// dimension are not equally spaced, and for explicit segments and listed elements.
    std::vector<Slice> slices(std::int64_t rank) const;
    /// Every process's part as a box, for `boxes`. @throws LayoutError where one holds no box.
    std::vector<IndexBox> to_boxes() const;
    /// Process `rank`'s ScaLAPACK descriptor of a matrix of this layout, for column-major local
    /// arrays; `transposed`: of its transpose, for row-major ones. CTXT_ is `context`, and -1 on a
    /// process outside the grid. @throws LayoutError for layouts that ScaLAPACK cannot describe.
    BlacsDescriptor to_blacs(std::int64_t rank, std::int64_t context = 0,
                             bool transposed = false) const;
    /// The grid of that descriptor, its lowest process at row 0 and column 0.
    BlacsGrid blacs_grid(bool transposed = false) const;
    /// Every process that holds the element, increasing. @throws LayoutError outside the shape.
    std::vector<std::int64_t> owners(std::span<const std::int64_t> index) const;
    /// The lowest of `owners`. @throws LayoutError also where nobody holds the element.
    std::int64_t owner(std::span<const std::int64_t> index) const;
    /// Where the element lies in the local array of `owner(index)`.
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
