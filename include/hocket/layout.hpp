// SPDX-License-Identifier: BSD-3-Clause
// Layouts: distributions of a global N-d array over a processor arrangement. Pure values; no MPI.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/handle.hpp"

namespace hocket {

using Shape = std::vector<std::int64_t>;

namespace layout {
struct Form;  // the index algebra behind a Layout; src/layout/form.hpp
struct Format;
}  // namespace layout

/// `length` elements from row-major element number `first` on.
struct Segment {
    std::int64_t first;
    std::int64_t length;
};

/// The `count` indices first, first + step, ... of one dimension. `keep` false drops the dimension,
/// as an integer index does in NumPy; `count` is 1 then.
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

/// A process grid of BLACS: `processes[p * columns + q]` is at row p and column q, as in
/// BLACS_GRIDMAP. Empty: 0, 1, 2, ... row by row, as in BLACS_GRIDINIT('R').
struct BlacsGrid {
    std::int64_t rows = 1, columns = 1;
    std::vector<std::int64_t> processes{};
};

/// The distribution of one dimension. Cheap to copy: copies share the memory of a map.
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

    /// Internal: for hocket's own sources.
    const layout::Format& format() const { return *format_; }

  private:
    explicit Format(std::shared_ptr<const layout::Format> format) : format_(std::move(format)) {}
    handle::Shared<const layout::Format, "Format"> format_;
};

/// The distribution of a global array over `size()` processes (HPF 1.0, chapter 3; HPF 2.0, chapter
/// 8). Cheap to copy. Two layouts are equal if their shapes, sizes and the index sets of every
/// process are equal. Elements and explicit segments equal only layouts of their own kind.
///
/// Process r is at row-major position r of `procs()`. A local array is dense and row-major. Its
/// elements are in increasing global index order in every dimension; those of a section, in the
/// order of the slices; listed elements, in the given order.
class Layout {
  public:
    /// `dist` is HPF text with one format a dimension, in any case: "(BLOCK, CYCLIC(3), *)".
    /// `procs` has one extent for each dimension that is not `*`, in order. At each position in
    /// `replicate` it has one more extent, which belongs to no dimension: processes along it hold
    /// copies.
    /// @throws LayoutError for malformed text (points at the character) and for extents that do not
    ///         fit.
    Layout(Shape shape, std::string_view dist, Shape procs = {},
           std::span<const std::int64_t> replicate = {});

    /// With a list of formats, one a dimension: {"BLOCK", Format::indirect(owners), "*"}.
    Layout(Shape shape, std::span<const Format> formats, Shape procs = {},
           std::span<const std::int64_t> replicate = {});
    Layout(Shape shape, std::initializer_list<Format> formats, Shape procs = {},
           std::span<const std::int64_t> replicate = {})
        : Layout(std::move(shape), std::span(formats.begin(), formats.size()), std::move(procs),
                 replicate) {}

    /// An array aligned with a template. `align` is HPF text "A(i,j) WITH T(2*j+1, i, *)", with
    /// indices from `first` (1 in Fortran). A subscript is `a*i+b` in one dummy, a constant (other
    /// processes hold nothing), `*` in the template (copies along that dimension) or `*` in the
    /// array (that dimension is not distributed). Negative strides are legal. @throws LayoutError
    /// for malformed text (points at the character), and for subscripts outside the template.
    static Layout aligned(Shape shape, std::string_view align, const Layout& target,
                          std::int64_t first = 0);
    /// Explicit segments of the row-major flattened array. Process r holds `segments[r]` in a
    /// one-dimensional local array, in increasing order. Elements in gaps have no owner.
    /// @throws LayoutError for segments that overlap or leave the array.
    static Layout indexed(Shape shape, const std::vector<std::vector<Segment>>& segments);
    /// One box of indices for each process (bricks). Boxes may leave gaps, whose elements have no
    /// owner; overlapping boxes hold copies. Takes O(P log P) time.
    /// @throws LayoutError for boxes that leave the shape, or stop before they start.
    static Layout boxes(Shape shape, std::span<const IndexBox> boxes);
    /// Lists of row-major element numbers. Process r holds `lists[r]` in a one-dimensional local
    /// array, in this order. An element in several lists has several copies; elements in no list
    /// have no owner.
    /// @throws LayoutError for numbers outside the array, and for a number twice in one list.
    static Layout elements(Shape shape, const std::vector<std::vector<std::int64_t>>& lists);
    /// The layout of a ScaLAPACK matrix. Its local arrays are column-major, with LLD_ elements
    /// between columns. `transposed`: the layout of the transpose, whose local arrays are the same
    /// memory, row-major. The descriptor is that of process `rank`, for a check of LLD_; -1: no
    /// check.
    /// @throws LayoutError for a descriptor of another grid, and for values that ScaLAPACK refuses.
    static Layout from_blacs(const BlacsDescriptor& descriptor, const BlacsGrid& grid,
                             std::int64_t rank = -1, bool transposed = false);
    /// Every array that the directives of a Fortran program distribute or align, by name, in the
    /// order of declaration (HPF 1.0, chapter 3). Reads PROCESSORS, TEMPLATE, ALIGN, DISTRIBUTE,
    /// and declarations, in free or fixed form; skips other lines. `parameters` gives values to
    /// names that the text does not define, NUMBER_OF_PROCESSORS() among them. Dimensions keep
    /// Fortran's order; indices become 0-based.
    static std::vector<std::pair<std::string, Layout>> from_hpf(
        std::string_view text,
        const std::vector<std::pair<std::string, std::int64_t>>& parameters = {});

    /// The layout of a[slices], one slice a dimension. It numbers its own elements, in the order of
    /// the slices. @throws LayoutError for slices that leave the shape.
    Layout section(std::span<const Slice> slices) const;
    /// For each dimension, the local indices on process `rank` of the section's elements that the
    /// process holds, in the section's order. A dropped dimension has one. Explicit segments have
    /// one list of local positions.
    std::vector<std::vector<std::int64_t>> section_places(std::span<const Slice> slices,
                                                          std::int64_t rank) const;
    /// The same as slices of the local array, in time that grows with the runs of indices that the
    /// process holds, not with the indices; none for a dimension along which the elements are not
    /// equally spaced.
    std::vector<std::optional<Slice>> section_slices(std::span<const Slice> slices,
                                                     std::int64_t rank) const;
    /// The same parts on other processes: process `ranks[r]` holds the part of process r. `size`:
    /// number of processes; 0: the highest number in `ranks` plus 1. Other processes hold nothing.
    Layout relabeled(std::span<const std::int64_t> ranks, std::int64_t size = 0) const;

    /// The layout that `text()` describes.
    static Layout parse(std::string_view text);
    /// Parses a text that may omit the shape: "(BLOCK, *) @ 4".
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
    /// Number of local elements on process `rank`, also for layouts whose `local_shape` has no
    /// extents.
    std::int64_t local_elements(std::int64_t rank) const;
    /// The global indices of process `rank` for each dimension, increasing. Explicit segments and
    /// listed elements have one list of row-major element numbers, in the order of the local array.
    std::vector<std::vector<std::int64_t>> global_indices(std::int64_t rank) const;
    /// The part of process `rank` as one slice a dimension. @throws LayoutError if the indices of a
    /// dimension are not equally spaced, and for explicit segments and listed elements.
    std::vector<Slice> slices(std::int64_t rank) const;
    /// The part of every process as a box, for `boxes`. @throws LayoutError if a part is no box.
    std::vector<IndexBox> to_boxes() const;
    /// The ScaLAPACK descriptor on process `rank` of a matrix with this layout, for column-major
    /// local arrays. `transposed`: of its transpose, for row-major ones. CTXT_ is `context`, and -1
    /// on a process outside the grid. @throws LayoutError for layouts that ScaLAPACK cannot
    /// describe.
    BlacsDescriptor to_blacs(std::int64_t rank, std::int64_t context = 0,
                             bool transposed = false) const;
    /// The grid of that descriptor, with its lowest process at row 0 and column 0.
    BlacsGrid blacs_grid(bool transposed = false) const;
    /// Every process that holds the element, increasing. @throws LayoutError outside the shape.
    std::vector<std::int64_t> owners(std::span<const std::int64_t> index) const;
    /// The lowest of `owners`. @throws LayoutError also for an element without owner.
    std::int64_t owner(std::span<const std::int64_t> index) const;
    /// The index of the element in the local array of `owner(index)`.
    Shape local_index(std::span<const std::int64_t> index) const;

    std::string text() const;  ///< one line; `parse(text())` gives the layout back
    std::size_t hash() const;  ///< equal for equal layouts
    friend bool operator==(const Layout& a, const Layout& b);

    /// Internal: for hocket's own sources.
    explicit Layout(std::shared_ptr<const layout::Form> form) : form_(std::move(form)) {}
    const layout::Form& form() const { return *form_; }

  private:
    handle::Shared<const layout::Form, "Layout"> form_;
};

}  // namespace hocket

template <>
struct std::hash<hocket::Layout> {
    std::size_t operator()(const hocket::Layout& layout) const { return layout.hash(); }
};
