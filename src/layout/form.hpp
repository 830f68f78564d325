// SPDX-License-Identifier: BSD-3-Clause
// The index algebra behind a Layout: its definition, and the values derived from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hocket/layout.hpp"
#include "layout/boxes.hpp"
#include "layout/index_set.hpp"
#include "layout/lazy.hpp"
#include "layout/segments.hpp"

namespace hocket::layout {

/// One dimension's distribution format in HPF.
struct Format {
    enum class Kind { whole, block, cyclic, balanced, gen_block, indirect };
    Kind kind = Kind::whole;
    std::int64_t size = 0;  ///< BLOCK(size), CYCLIC(size); 0: without size
    std::shared_ptr<const Partition> partition = nullptr;  ///< of GEN_BLOCK and INDIRECT

    bool distributed() const { return kind != Kind::whole; }
    friend bool operator==(const Format& a, const Format& b) {
        return a.kind == b.kind && a.size == b.size &&
               (a.partition == b.partition ||
                (a.partition && b.partition && *a.partition == *b.partition));
    }
};

/// The subscript of a template dimension in an alignment.
struct Subscript {
    enum class Kind {
        index,     ///< stride*i + offset, i the index of array dimension `dimension`
        constant,  ///< offset alone: other processes hold nothing
        any        ///< copies at stride*j + offset for every j of [0, count); all of them: `*`
    };
    Kind kind = Kind::index;
    int dimension = -1;
    std::int64_t stride = 1;
    std::int64_t offset = 0;
    std::int64_t count = 0;
    friend bool operator==(const Subscript&, const Subscript&) = default;
};

/// A direct distribution: of an array, or of the template for aligned arrays.
struct Template {
    Shape shape;
    std::vector<Format> formats;
    Shape procs;
    Shape replicate;  ///< positions in `procs` that belong to no dimension, increasing
    friend bool operator==(const Template&, const Template&) = default;
};

/// The meaning of a dimension of the processor arrangement.
struct Role {
    enum class Kind {
        dimension,  ///< array dimension `dimension` is distributed along it
        copies,     ///< every coordinate of `holders` holds a copy
        fixed       ///< only `coordinate` holds anything
    };
    Kind kind = Kind::copies;
    int dimension = -1;
    std::int64_t coordinate = 0;
    IndexSet holders;
    friend bool operator==(const Role&, const Role&) = default;
};

/// The order of processes, if it is not row-major.
struct ProcessOrder {
    std::vector<std::int64_t> process;  ///< of each position of the arrangement
    /// For each process; one without a position holds nothing.
    std::unordered_map<std::int64_t, std::int64_t> position;
};

struct Form {
    // The definition.
    Template base;
    std::vector<Subscript> alignment;  ///< one a template dimension; the identity for an array
    Shape shape;
    std::shared_ptr<const ProcessOrder> order;  ///< null: row-major
    /// Not null: explicit segments or listed elements, and no template.
    std::shared_ptr<const Segments> segments;
    std::shared_ptr<const Boxes> boxes;  ///< not null: one box a process, and no template

    // Derived values.
    std::vector<Axis> axes;  ///< one an array dimension
    std::vector<Role> grid;  ///< one a dimension of base.procs
    std::int64_t size = 1;
    std::int64_t elements = 1;
    std::int64_t copies = 1;  ///< processes that hold each element
    // Computed once the form is complete:
    Lazy<std::size_t> known_hash;
    Lazy<std::string> known_dist;
    Lazy<std::string> known_label;
    Lazy<std::string> known_key;

    bool aligned() const;  ///< true if the alignment is not the identity
    /// True if a local array is a list: for explicit segments and listed elements.
    bool indexed() const { return segments != nullptr; }
    /// True if a process holds the product of the index sets of its coordinates.
    bool gridded() const { return !indexed() && !boxes; }

    /// The coordinates of a process in the arrangement; nothing for a process without position, or
    /// one that holds nothing because of the alignment.
    std::optional<Shape> place(std::int64_t rank) const;
    /// The process at a row-major position of the arrangement, or at coordinates.
    std::int64_t process_at(std::int64_t position) const {
        return order ? order->process[static_cast<std::size_t>(position)] : position;
    }
    std::int64_t position(std::span<const std::int64_t> coordinates) const;
    /// The coordinate along array dimension `d`; 0 if that is not distributed.
    std::int64_t coordinate(std::size_t d, std::span<const std::int64_t> coordinates) const {
        const int g = axes[d].grid;
        return g < 0 ? 0 : coordinates[static_cast<std::size_t>(g)];
    }
    /// For each array dimension the indices of a process; for explicit segments and listed elements
    /// one set of row-major elements.
    std::vector<IndexSet> sets(std::int64_t rank) const;
    /// Number of elements that a process holds.
    std::int64_t local_elements(std::int64_t rank) const;
    /// The number of a process's copy, in the order of the arrangement; and the coordinates of copy
    /// number `copy` of the elements at `coordinates`.
    std::int64_t copy_number(std::span<const std::int64_t> coordinates) const;
    Shape copy_at(std::int64_t copy, Shape coordinates) const;

    void check_rank(std::int64_t rank) const;
    void check_index(std::span<const std::int64_t> index) const;
};

/// The distribution of a dimension of `extent` indices over `procs` processes by a format; `d`
/// names the dimension in messages. @throws LayoutError if it does not fit.
Axis axis_of(const Format& format, std::int64_t extent, std::int64_t procs, std::size_t d);

/// Checks the template and derives all values. @throws LayoutError
Form make_form(Template base);
/// An array aligned with a template: one subscript for each dimension of `target`, which may itself
/// be aligned.
Form make_form(Shape shape, std::vector<Subscript> alignment, const Form& target);
/// Explicit segments: `segments[r]` are process r's. With `listed`, they are the runs of its local
/// array in order.
Form make_form(Shape shape, const std::vector<std::vector<Run>>& segments, bool listed = false);
/// One box a process, each within the shape.
Form make_form(Shape shape, std::vector<ProcessBox> boxes);
/// The same of the listed processes, by increasing number; the others of `size` hold nothing.
Form make_form(Shape shape, std::int64_t size, std::vector<std::int64_t> processes,
               std::vector<ProcessBox> boxes);
/// Checks and normalises an alignment. @throws LayoutError
void check_alignment(const Shape& shape, std::vector<Subscript>& alignment, const Form& target);
/// An alignment with any layout: with boxes it gives boxes, with lists lists.
Form make_aligned(Shape shape, std::vector<Subscript> alignment, const Form& target);
/// The layout of a section, one slice a dimension.
Form make_section(const Form& form, std::span<const Slice> slices);
/// The positions among `own` of the indices first + step * j, for all j of `held`, if they are
/// equally spaced. `own` has these indices.
std::optional<Slice> positions(const IndexSet& own, const IndexSet& held, std::int64_t first,
                               std::int64_t step);
/// The same parts on other processes: process ranks[r] holds the part of r.
Form make_relabeled(const Form& form, std::span<const std::int64_t> ranks, std::int64_t size);

std::string text_of(const Shape& shape);  ///< "(12, 12)"
std::string text_of(const Format& format);
std::string text_of(const std::vector<Format>& formats);
std::string dist_of(const Form& form);  ///< implements Layout::dist()
std::string text_of(const Form& form);  ///< implements Layout::text()
std::string brief(const Form& form);    ///< a shortened text, for messages
/// The text if it is short; else its beginning and a digest of 128 bits, so that labels are equal
/// if the texts are. Computed once.
const std::string& label(const Form& form);
std::string text_of_alignment(const Form& form);  ///< "A(i, j) WITH T(2*i+1, j, *)"

bool equal(const Form& a, const Form& b);
std::size_t hash(const Form& form);

/// The row-major strides of an array.
Shape strides_of(std::span<const std::int64_t> shape);
std::int64_t flatten(std::span<const std::int64_t> index, std::span<const std::int64_t> shape);
Shape unflatten(std::int64_t place, std::span<const std::int64_t> shape);

}  // namespace hocket::layout
