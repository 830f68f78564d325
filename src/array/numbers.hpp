// SPDX-License-Identifier: BSD-3-Clause
// Element types by name, and operations on two numbers.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "hocket/computing.hpp"
#include "hocket/exact.hpp"

namespace hocket::array {

/// "sum", "maxval", …
std::string name_of(Combine op);

template <class T>
struct Type {
    using type = T;
};

/// Calls `body` with a zero of the type, if it is an integer; bool counts as an integer of 8 bits.
template <class Body>
bool with_integer(const DType& dtype, Body&& body) {
    const std::string& name = dtype.name;
    if (name == "int8") return body(std::int8_t{}), true;
    if (name == "int16") return body(std::int16_t{}), true;
    if (name == "int32") return body(std::int32_t{}), true;
    if (name == "int64") return body(std::int64_t{}), true;
    if (name == "uint8") return body(std::uint8_t{}), true;
    if (name == "uint16") return body(std::uint16_t{}), true;
    if (name == "uint32") return body(std::uint32_t{}), true;
    if (name == "uint64") return body(std::uint64_t{}), true;
    return false;
}
template <class Body>
bool with_truth(const DType& dtype, Body&& body) {
    if (dtype.name == "bool") return body(std::uint8_t{}), true;
    return with_integer(dtype, body);
}
template <class Body>
bool with_real(const DType& dtype, Body&& body) {
    if (dtype.name == "float32") return body(float{}), true;
    if (dtype.name == "float64") return body(double{}), true;
    return with_integer(dtype, body);
}
template <class Body>
bool with_number(const DType& dtype, Body&& body) {
    if (dtype.name == "complex64") return body(std::complex<float>{}), true;
    if (dtype.name == "complex128") return body(std::complex<double>{}), true;
    return with_real(dtype, body);
}
inline bool is_truth(const DType& dtype) {
    return with_truth(dtype, [](auto) {});
}

/// The real parts of a type with exact sums: their kind, and their number in an element.
struct ExactType {
    exact::Number number;
    int parts;
};
std::optional<ExactType> exact_type(const DType& dtype);

template <class T>
bool is_nan(T value) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
    return false;
}

/// One operation on two numbers of one type.
template <class T, Combine op>
struct Fold {
    static T identity() {
        using Limits = std::numeric_limits<T>;
        if constexpr (op == Combine::product || op == Combine::all)
            return T(1);
        else if constexpr (op == Combine::iall)
            return static_cast<T>(~T{0});
        else if constexpr (op == Combine::maxval)
            return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
        else if constexpr (op == Combine::minval)
            return Limits::has_infinity ? Limits::infinity() : Limits::max();
        else
            return T{0};
    }
    static T of(T a, T b) {
        if constexpr (std::is_integral_v<T> && (op == Combine::sum || op == Combine::product)) {
            using Wide = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;
            using Bits = std::make_unsigned_t<T>;
            const Wide x = static_cast<Bits>(a), y = static_cast<Bits>(b);
            return static_cast<T>(op == Combine::sum ? x + y : x * y);  // wraps around
        } else if constexpr (op == Combine::sum) {
            return a + b;
        } else if constexpr (op == Combine::product) {
            return a * b;
        } else if constexpr (op == Combine::maxval) {
            return a > b || is_nan(a) ? a : b;  // NaN stays
        } else if constexpr (op == Combine::minval) {
            return a < b || is_nan(a) ? a : b;
        } else if constexpr (op == Combine::all) {
            return static_cast<T>(a != 0 && b != 0);
        } else if constexpr (op == Combine::any) {
            return static_cast<T>(a != 0 || b != 0);
        } else if constexpr (op == Combine::parity) {
            return static_cast<T>((a != 0) != (b != 0));
        } else if constexpr (op == Combine::iall) {
            return static_cast<T>(a & b);
        } else if constexpr (op == Combine::iany) {
            return static_cast<T>(a | b);
        } else if constexpr (op == Combine::iparity) {
            return static_cast<T>(a ^ b);
        } else {
            return b;  // replace
        }
    }
};

/// Loops over numbers of one type with one operation, on raw addresses.
struct FoldLoops {
    std::int64_t itemsize = 0;
    void (*fill)(void* into, std::int64_t count) = nullptr;  ///< with the identity
    /// into[k] = into[k] with from[k].
    void (*combine)(void* into, const void* from, std::int64_t count) = nullptr;
    /// into[k] = into[k] with all of from[row * count + k].
    void (*columns)(void* into, const void* from, std::int64_t rows, std::int64_t count) = nullptr;
    /// into = into with all of from.
    void (*reduce)(void* into, const void* from, std::int64_t count) = nullptr;
};
/// @throws MismatchError if the type does not have the operation; names the types that do.
FoldLoops fold_loops(Combine op, const DType& dtype);

}  // namespace hocket::array
