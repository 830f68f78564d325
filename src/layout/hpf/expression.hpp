// SPDX-License-Identifier: BSD-3-Clause
// Integer expressions that are linear in one dummy, for subscripts and extents.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layout/scanner.hpp"

namespace hocket::layout {

/// factor * dummy + constant; `dummy` -1: the constant alone.
struct Linear {
    std::int64_t factor = 0;
    std::int64_t constant = 0;
    int dummy = -1;
};

/// A name with its value, both in capitals.
struct Parameter {
    std::string name;
    std::int64_t value;
};

/// The names in an expression.
struct Names {
    std::vector<std::string> dummies;  ///< of array dimensions; "" for `*`, ":" for `:`
    std::vector<Parameter> parameters;
    bool may_grow = false;  ///< in a program, which may declare more parameters
};

/// Sums, products and brackets of integers, dummies and parameters: `2*j+1`, `-(i-3)`, `n/2`.
/// @throws LayoutError pointing at the character.
Linear parse_linear(Scanner& scanner, const Names& names);

/// An expression without dummies.
std::int64_t parse_constant(Scanner& scanner, const Names& names);

}  // namespace hocket::layout
