// SPDX-License-Identifier: BSD-3-Clause
// The parts of a Fortran program that declare and map arrays.
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
    bool directive;      ///< after !HPF$
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
    std::string written;  ///< in the spelling of its declaration
    Extents extents;
    std::string trouble;  ///< not empty: the reason why the extents are unknown
};

/// "(n, 0:m)". @throws LayoutError
Extents parse_bounds(Scanner& scanner, const Names& names);

/// Adds the declarations of a line of Fortran: arrays, and named constants to `names`. Skips other
/// lines.
void read_declarations(const Line& line, Names& names, std::vector<Declaration>& arrays);

}  // namespace hocket::layout
