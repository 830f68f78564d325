// SPDX-License-Identifier: BSD-3-Clause
// What of a Fortran program says where arrays lie.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "layout/alignment.hpp"

namespace hocket::layout {

/// A line of a program, continuation lines joined, without comments.
struct Line {
    std::string text;
    std::size_t number;  ///< of its first line, from 1
    bool directive;      ///< it followed !HPF$
};

std::vector<Line> lines_of(std::string_view program);

/// Lowest index and extent of each dimension.
struct Extents {
    Shape lowest;
    Shape shape;
};

/// An array, a template or a processor arrangement.
struct Declaration {
    std::string name;     ///< in capitals
    std::string written;  ///< as the program first writes it
    Extents extents;
    std::string trouble;  ///< not empty: why the extents are not known
};

/// "(n, 0:m)". @throws LayoutError
Extents parse_bounds(Scanner& scanner, const Names& names);

/// Adds what a line of Fortran declares: arrays, and named constants to `names`. Lines that declare
/// nothing are passed over.
void read_declarations(const Line& line, Names& names, std::vector<Declaration>& arrays);

}  // namespace hocket::layout
