// SPDX-License-Identifier: BSD-3-Clause
// The end of the solution, and its check.
#pragma once

#include <vector>

#include "modes.hpp"

namespace linpack {

/// x of U x = y, for the factored matrix with U and, as its last column, y: the elements of this
/// process's columns, on every process of the process column. Collective.
std::vector<double> solve(const Matrix& matrix, const Factored& factored);

/// ||Ax - b|| / (eps (||A|| ||x|| + ||b||) n), all norms infinite, eps half of the distance from 1
/// to the next number, with A and b generated again: HPL's test, passed below 16. Infinite if x is
/// not finite. Collective.
double residual(const Matrix& matrix, const Elements& elements, const std::vector<double>& x,
                const hocket::Comm& everyone);

}  // namespace linpack
