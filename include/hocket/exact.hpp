// SPDX-License-Identifier: BSD-3-Clause
// Exact sums of floating-point numbers and of their products, rounded once. Local; no MPI.
#pragma once

#include <cstdint>
#include <span>

namespace hocket::exact {

/// IEEE 754 binary16, binary32 and binary64.
enum class Number : std::uint8_t { float16, float32, float64 };

/// The terms of sums: elements a, or products a * b. `shape` has the `kept` dimensions of the
/// result first, then the dimensions that are summed over. Strides are in bytes.
struct Terms {
    Number number = Number::float64;
    const void* a = nullptr;
    const void* b = nullptr;  ///< null: the terms are elements
    std::span<const std::int64_t> shape{}, a_strides{}, b_strides{};
    std::size_t kept = 0;
    /// The terms are a[k] * b[k + 1] - a[k + 1] * b[k] of neighbours in the last dimension, which
    /// has an even extent: those of the imaginary part of products of complex numbers, the first
    /// ones conjugated.
    bool crossed = false;
};

/// The number of 64-bit words of an accumulator. An accumulator of zeros is an empty sum. An
/// accumulator holds any sum of up to 2^62 terms exactly, and distinguishes infinities and NaN (R.
/// M. Neal, "Fast exact summation using small and large superaccumulators", 2015). Programs may
/// copy accumulators of one kind between processes.
std::int64_t words(Number number, bool products);

/// Adds the terms to the accumulators, one for each element of the result, contiguous in memory.
void add(const Terms& terms, std::int64_t* accumulators);

/// Adds each accumulator of `from` to that of `into`.
void merge(std::int64_t* into, const std::int64_t* from, std::int64_t count, Number number,
           bool products);

/// Rounds each sum to nearest even, as `result`; inf - inf is NaN, and an empty sum is 0.
void round(const std::int64_t* accumulators, std::int64_t count, Number number, bool products,
           Number result, void* rounded);

/// Writes each sum of elements (no products) as two numbers whose sum it is exactly. False if some
/// sum needs more; then its two numbers mean nothing.
bool pairs(const Terms& terms, double* sums);

/// The rounded sums of elements (no products), dense. Allocates the accumulators itself.
void sum(const Terms& terms, Number result, void* rounded);

}  // namespace hocket::exact
