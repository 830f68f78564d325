// SPDX-License-Identifier: BSD-3-Clause
// Integer arithmetic on 64-bit sizes that does not overflow silently.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

namespace hocket::base {

/// For intermediate values; results of functions have 64 bits.
__extension__ using wide = __int128;

constexpr std::int64_t max_size = std::numeric_limits<std::int64_t>::max();

/// Quotient rounded towards minus infinity; `b` > 0.
template <class T>
constexpr T floor_div(T a, T b) {
    const T q = a / b;
    return q * b > a ? q - 1 : q;
}

/// Quotient rounded towards plus infinity; `b` > 0.
template <class T>
constexpr T ceil_div(T a, T b) {
    const T q = a / b;
    return q * b < a ? q + 1 : q;
}

/// Remainder in [0, b); `b` > 0.
template <class T>
constexpr T floor_mod(T a, T b) {
    const T r = a % b;
    return r < 0 ? r + b : r;
}

/// a*b, or nothing if it does not fit 63 bits.
inline std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
    return result;
}

/// a+b, or nothing if it does not fit 63 bits.
inline std::optional<std::int64_t> sum(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
    return result;
}

/// Product of non-negative extents, or nothing if it does not fit 63 bits. A zero anywhere makes it
/// zero, however large the others are.
inline std::optional<std::int64_t> product(std::span<const std::int64_t> extents) {
    std::optional<std::int64_t> result = 1;
    for (const std::int64_t extent : extents) {
        if (extent == 0) return 0;
        if (result) result = product(*result, extent);
    }
    return result;
}

/// a*b of non-negative values, clipped to `limit`.
inline std::int64_t product_up_to(std::int64_t a, std::int64_t b, std::int64_t limit) {
    const wide exact = static_cast<wide>(a) * b;
    return exact > limit ? limit : static_cast<std::int64_t>(exact);
}

/// Least common multiple of positive values, clipped to `limit`.
inline std::int64_t lcm_up_to(std::int64_t a, std::int64_t b, std::int64_t limit) {
    return product_up_to(a / std::gcd(a, b), b, limit);
}

/// x with a*x = 1 modulo m (extended Euclid); gcd(a, m) = 1, 0 <= a < m.
inline wide inverse(wide a, wide m) {
    wide r0 = m, r1 = a, t0 = 0, t1 = 1;
    while (r1 != 0) {
        const wide q = r0 / r1;
        const wide r2 = r0 - q * r1, t2 = t0 - q * t1;
        r0 = r1, r1 = r2, t0 = t1, t1 = t2;
    }
    return m == 1 ? 0 : floor_mod(t0, m);
}

}  // namespace hocket::base
