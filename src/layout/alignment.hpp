// SPDX-License-Identifier: BSD-3-Clause
// Parses and prints HPF's ALIGN: "A(i,j) WITH T(2*j+1, i, *)".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "layout/form.hpp"
#include "layout/hpf/expression.hpp"

namespace hocket::layout {

/// Lowest index of each dimension of an array and of its template; empty: 0 everywhere.
struct Bounds {
    Shape array;
    Shape target;
};

/// "(i, *, :)": the names of array dimensions; "" for `*`.
std::vector<std::string> parse_dummies(Scanner& scanner);

/// "(2*j+1, i, *, :, 1:9:2)": one subscript a template dimension, counted from 0.
std::vector<Subscript> parse_subscripts(Scanner& scanner, const Names& names, const Shape& shape,
                                        const Shape& target, const Bounds& bounds = {});

/// "[!HPF$] [ALIGN] A(i,j) WITH T(2*j+1, i, *)" up to the last bracket. `shape`: extents of the
/// array. `first`: the lowest index of every dimension of both.
std::vector<Subscript> parse_alignment(Scanner& scanner, const Shape& shape, const Shape& target,
                                       std::int64_t first = 0);

}  // namespace hocket::layout
