// SPDX-License-Identifier: BSD-3-Clause
// Work on so few columns that a call of BLAS takes longer than it: a panel's columns one at a time,
// each in one pass over the rows, and the inverse of a panel's triangle.
#pragma once

#include <cstdint>

#include "blas.hpp"

namespace linpack {

/// The last of these columns loses the products of those before it and `row`: its elements in their
/// pivots' rows. The one before it becomes multipliers first: it is divided by `pivot`. Returns the
/// largest magnitude in the last column; NaN counts as larger than every number.
double eliminate_last(const Block& columns, double pivot, const double* row);
/// The column becomes multipliers.
void divide(const Block& column, double pivot);
/// The first row from `from` on with this value's magnitude, or the number of rows.
std::int64_t row_with(const Block& column, double value, std::int64_t from);

/// l, lower triangular with ones on its diagonal, becomes its inverse; neither the ones nor the
/// elements above them are written.
void invert_lower(const Block& l);

}  // namespace linpack
