// SPDX-License-Identifier: BSD-3-Clause
// The index algebra behind a Layout: what was written, and what follows from it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hocket/layout.hpp"
#include "layout/index_set.hpp"

namespace hocket::layout {

/// One dimension's distribution format, as HPF writes it.
struct Format {
    enum class Kind { whole, block, cyclic };
    Kind kind = Kind::whole;
    std::int64_t size = 0;  ///< BLOCK(size), CYCLIC(size); 0: none was written
    friend bool operator==(const Format&, const Format&) = default;
};

/// What a dimension of a template is aligned with.
struct Subscript {
    enum class Kind {
        index,     ///< stride*i + offset, i the index of array dimension `dimension`
        constant,  ///< offset alone: other processes hold nothing
        any        ///< `*`: copies along this dimension
    };
    Kind kind = Kind::index;
    int dimension = -1;
    std::int64_t stride = 1;
    std::int64_t offset = 0;
    friend bool operator==(const Subscript&, const Subscript&) = default;
};

/// What is distributed directly: an array, or the template that arrays are aligned with.
struct Template {
    Shape shape;
    std::vector<Format> formats;
    Shape procs;
    Shape replicate;  ///< positions in `procs` that belong to no dimension, increasing
    friend bool operator==(const Template&, const Template&) = default;
};

/// What a dimension of the processor arrangement stands for.
struct Role {
    enum class Kind {
        dimension,  ///< array dimension `dimension` is dealt out along it
        copies,     ///< every coordinate holds a copy
        fixed       ///< only `coordinate` holds anything
    };
    Kind kind = Kind::copies;
    int dimension = -1;
    std::int64_t coordinate = 0;
    friend bool operator==(const Role&, const Role&) = default;
};

struct Form {
    // As written.
    Template base;
    std::vector<Subscript> alignment;  ///< one a template dimension; the identity for an array
    Shape shape;

    // What follows.
    std::string dist;
    std::vector<Axis> axes;  ///< one an array dimension
    std::vector<Role> grid;  ///< one a dimension of base.procs
    std::int64_t size = 1;
    std::int64_t elements = 1;
    std::int64_t copies = 1;  ///< processes that hold each element

    bool aligned() const;  ///< true where the alignment is not the identity

    /// Coordinates of a process in the arrangement.
    Shape coordinates(std::int64_t rank) const;
    std::int64_t rank(std::span<const std::int64_t> coordinates) const;
    /// False for a process that an alignment's constant leaves with nothing.
    bool takes_part(std::span<const std::int64_t> coordinates) const;
    /// Coordinate along array dimension `d`; 0 where that is not distributed.
    std::int64_t coordinate(std::size_t d, std::span<const std::int64_t> coordinates) const {
        const int g = axes[d].grid;
        return g < 0 ? 0 : coordinates[static_cast<std::size_t>(g)];
    }
    /// For each array dimension the indices that a process holds.
    std::vector<IndexSet> sets(std::int64_t rank) const;
    /// Which of the copies a process holds, counting in the arrangement's order.
    std::int64_t copy_number(std::span<const std::int64_t> coordinates) const;

    void check_rank(std::int64_t rank) const;
    void check_index(std::span<const std::int64_t> index) const;
};

/// Checks everything and works out what follows.
/// @throws LayoutError
Form make_form(Template base);
Form make_form(Shape shape, std::vector<Subscript> alignment, Template base);

std::string text_of(const Shape& shape);  ///< "(12, 12)"
std::string text_of(const std::vector<Format>& formats);
std::string text_of(const Form& form);  ///< what Layout::text() gives

bool equal(const Form& a, const Form& b);
std::size_t hash(const Form& form);

}  // namespace hocket::layout
