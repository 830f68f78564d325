// SPDX-License-Identifier: BSD-3-Clause
// Sums of blocks of numbers as two numbers that are exact, at the speed of memory.
#pragma once

#include <cstdint>

namespace hocket::exact {

/// At most so many numbers of one sum, and a multiple of `lanes`.
inline constexpr std::int64_t block_length = 2048;
inline constexpr std::int64_t lanes = 32;
/// Sums that are taken together, and how many terms of each.
inline constexpr std::int64_t widest = 32;
inline constexpr std::int64_t deepest = 256;

struct BlockSum {
    double high = 0, low = 0;
    bool whole = true;  ///< high + low is the sum exactly; else the block needs an accumulator
};
BlockSum sum_block(const double* values, std::int64_t count);
BlockSum sum_block(const float* values, std::int64_t count);
/// sums[k] of values[k], values[widest + k], …; `rows` terms each.
void sum_columns(const double* values, std::int64_t rows, BlockSum* sums);

/// products[k] + errors[k] = x[k] * y[k]. False where that is not exact: overflow, underflow, NaN.
bool multiply_block(const double* x, const double* y, std::int64_t count, double* products,
                    double* errors);
void widen_halves(const std::uint16_t* halves, std::int64_t count, double* to);

}  // namespace hocket::exact
