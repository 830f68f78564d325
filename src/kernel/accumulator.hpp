// SPDX-License-Identifier: BSD-3-Clause
// A fixed-point number that holds any sum of floating-point numbers: the small superaccumulator of
// R. M. Neal, "Fast exact summation using small and large superaccumulators" (2015).
#pragma once

#include <cstdint>

#include "hocket/exact.hpp"

namespace hocket::exact {

/// The kind of an accumulator: the first word holds flags; chunks follow, the lowest first; chunk k
/// has the unit 2^(lowest + 32 k). Chunks are signed and carry late.
struct Range {
    int lowest;
    int chunks;
    std::int64_t words() const { return 1 + chunks; }
};
Range range_of(Number number, bool products);

/// The largest number of additions between two calls of `carry`.
inline constexpr std::int64_t additions_before_carry = std::int64_t{1} << 30;

void add_number(std::int64_t* accumulator, const Range& range, double value);
/// The exact product, even if it would overflow or underflow.
void add_product(std::int64_t* accumulator, const Range& range, double x, double y);
/// Brings all chunks but the highest into [0, 2^32).
void carry(std::int64_t* accumulator, const Range& range);
/// Rounded to nearest even as `number`; a float64 can represent each value of the smaller types.
double rounded(const std::int64_t* accumulator, const Range& range, Number number);

/// For values that a half represents exactly, or that are too large for it.
std::uint16_t to_half(double value);
/// high + low rounded to `number`, given that both are exact and |low| is less than |high|'s
/// spacing times its length.
double rounded_pair(double high, double low, Number number);

}  // namespace hocket::exact
