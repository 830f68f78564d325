// SPDX-License-Identifier: BSD-3-Clause
// HPF's words for a layout: read and written.
#pragma once

#include <string_view>
#include <vector>

#include "layout/form.hpp"
#include "layout/hpf/expression.hpp"
#include "layout/scanner.hpp"

namespace hocket::layout {

/// "(BLOCK, CYCLIC(3), *)", any case. @throws LayoutError pointing at the character.
std::vector<Format> parse_formats(std::string_view text);
/// One of them.
Format parse_format(std::string_view text);
/// The same within a text; `names`, where given, are what sizes may be computed from.
std::vector<Format> parse_formats(Scanner& scanner, const Names* names = nullptr);

/// "(12, 12)"; a comma after the last is allowed, as Python writes it.
Shape parse_extents(Scanner& scanner, std::string_view what);

/// What text_of(Form) wrote. `shape`, where given, is the shape of a text that names none.
Form parse_layout(std::string_view text, const Shape* shape = nullptr);

}  // namespace hocket::layout
