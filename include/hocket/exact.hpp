// SPDX-License-Identifier: BSD-3-Clause
// Exact sums of floating-point numbers and of their products, rounded once. Local; no MPI.
#pragma once

#include <cstdint>
#include <span>

namespace hocket::exact {

/// IEEE 754 binary16, binary32 and binary64.
enum class Number : std::uint8_t { float16, float32, float64 };

/// Terms of sums: elements a, or products a * b. `shape` has the dimensions of the result first,
/// `kept` of them, and then those that are summed over; strides are in bytes.
struct Terms {
    Number number = Number::float64;
    const void* a = nullptr;
    const void* b = nullptr;  ///< null: the terms are elements
    std::span<const std::int64_t> shape{}, a_strides{}, b_strides{};
    std::size_t kept = 0;
    bool negative = false;  ///< the terms are subtracted
};

/// An accumulator is so many 64-bit words, all zero at first. It holds any sum of up to 2^62 terms
/// exactly, and tells infinities and NaN (R. M. Neal, "Fast exact summation using small and large
/// superaccumulators", 2015). Accumulators of one kind may be copied from process to process.
std::int64_t words(Number number, bool products);

/// Adds the terms to one accumulator an element of the result, which lie one after the other.
void add(const Terms& terms, std::int64_t* accumulators);

/// into += from, element by element.
void merge(std::int64_t* into, const std::int64_t* from, std::int64_t count, Number number,
           bool products);

/// Each sum rounded to nearest even as `result`; inf - inf is NaN, and a sum of nothing 0.
void round(const std::int64_t* accumulators, std::int64_t count, Number number, bool products,
           Number result, void* rounded);

/// The rounded sums of elements (no products), dense, without accumulators of the caller's.
void sum(const Terms& terms, Number result, void* rounded);

}  // namespace hocket::exact
