// SPDX-License-Identifier: BSD-3-Clause
// Parses and prints the text of layouts.
#pragma once

#include <string_view>
#include <vector>

#include "layout/form.hpp"
#include "layout/hpf/expression.hpp"
#include "layout/scanner.hpp"

namespace hocket::layout {

/// "(BLOCK, CYCLIC(3), *)", any case. @throws LayoutError pointing at the character.
std::vector<Format> parse_formats(std::string_view text);
/// One format.
Format parse_format(std::string_view text);
/// Formats within a text; `names` has the names for computed sizes.
std::vector<Format> parse_formats(Scanner& scanner, const Names* names = nullptr);

/// "(12, 12)"; a comma after the last is allowed, as Python writes it.
Shape parse_extents(Scanner& scanner, std::string_view what);

/// Parses the result of text_of(Form). `shape`: for a text without shape.
Form parse_layout(std::string_view text, const Shape* shape = nullptr);

}  // namespace hocket::layout
