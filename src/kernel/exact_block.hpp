// SPDX-License-Identifier: BSD-3-Clause
// Sums of blocks of numbers as two numbers that are exact, at the speed of memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace hocket::exact {

/// At most so many numbers of one sum, and a multiple of `lanes`.
inline constexpr std::int64_t block_length = 2048;
inline constexpr std::int64_t lanes = 32;
/// Sums that are taken together, and how many terms of each: fewer have more bits in common.
inline constexpr std::int64_t widest = 512;
inline constexpr std::int64_t deepest = 256;

struct BlockSum {
    double high = 0, low = 0;
    bool whole = true;  ///< all make the sum exactly; else the block needs an accumulator
    /// Numbers of very different sizes need two more sums, products up to four.
    double rest[4] = {};
    /// Whether `high` and `low` are the whole sum: of numbers, not of products.
    bool pair() const { return whole && rest[0] == 0 && rest[1] == 0; }
};
/// The size of the numbers, from one block of a sum to the next, and the parts that they need.
struct Guess {
    double start = 0;  ///< none yet
    int splits = 0;
    bool zeros = false;  ///< some product of the last block was 0
};
/// `count` is a multiple of `lanes`, at most `block_length`.
BlockSum sum_block(const double* values, std::int64_t count, Guess& guess);
BlockSum sum_block(const float* values, std::int64_t count, Guess& guess);
/// Of the numbers with even and with odd places, each: as of real and imaginary parts.
std::array<BlockSum, 2> sum_parts(const double* values, std::int64_t count, Guess& guess);
std::array<BlockSum, 2> sum_parts(const float* values, std::int64_t count, Guess& guess);
/// Of products x[k] * y[k]. `crossed`: of x[k] * y[k + 1] - x[k + 1] * y[k] for even k, as the
/// imaginary part of products of complex numbers, the first ones conjugated.
BlockSum sum_products(const double* x, const double* y, std::int64_t count, bool crossed,
                      Guess& guess);
BlockSum sum_products(const float* x, const float* y, std::int64_t count, bool crossed,
                      Guess& guess);
/// Sums that are taken together.
struct ColumnSums {
    double high[widest] = {}, low[widest] = {};  ///< the two make a sum exactly, unless
    std::int64_t broken[widest] = {};            ///< this is not 0
    double least[widest] = {};                   ///< a third number of sum_wide_columns
};
/// sums.high[k] and sums.low[k] of rows[0][k], rows[1][k], …: up to `deepest` rows of up to
/// `widest` numbers, a multiple of 8, float32 or float64. A guess each of their size, 0 at first.
void sum_columns(std::span<const void* const> rows, bool single, std::int64_t columns,
                 double* guesses, ColumnSums& sums);
/// The same for numbers of very different sizes, with a third number each; columns from `begin` on.
void sum_wide_columns(std::span<const void* const> rows, bool single, std::int64_t begin,
                      std::int64_t columns, double* guesses, ColumnSums& sums);
/// Adds sums to totals, which are not broken. If that is not exact, broken[k] is not 0, and the
/// total remains. Returns whether there is such a column.
bool join_columns(const ColumnSums& sums, std::int64_t columns, ColumnSums& totals,
                  std::int64_t* broken);

/// Every other number, as the real ones of complex numbers.
void take_alternate(const double* from, std::int64_t count, double* to);
void widen_halves(const std::uint16_t* halves, std::int64_t count, double* to);

}  // namespace hocket::exact
