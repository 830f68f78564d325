// SPDX-License-Identifier: BSD-3-Clause
// HPF's mapping directives, parsed but not resolved: they may name later declarations.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "layout/hpf/program.hpp"

namespace hocket::layout {

/// The directive of one array or template, to be resolved after the last line.
struct Mapping {
    std::string name;
    std::size_t line;
    std::string text;             // of the directive
    std::vector<Format> formats;  // DISTRIBUTE
    std::string onto;             // processors, or the align target
    bool aligned = false;
    std::vector<std::string> dummies;  // ALIGN; none where `identity`
    std::size_t subscripts = 0;        // their position in the text
    bool identity = false;
};

/// One program unit.
struct Unit {
    Names names;
    std::vector<Declaration> arrays, templates, processors;
    std::vector<Mapping> mappings;
};

/// Adds a directive. @throws LayoutError pointing at the character.
void read_directive(const Line& line, Unit& unit);

/// "HPF directive in line 3".
std::string directive_name(std::size_t line);

}  // namespace hocket::layout
