// SPDX-License-Identifier: BSD-3-Clause
// The operations of all reductions: integers wrap, bool adds as or and multiplies as and, NaN wins
// in min and max.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace hocket::fold {

namespace detail {
// Unsigned, because unsigned integers wrap; at least 32 bits, so that none is promoted to int.
template <class T>
using Wrapping = std::make_unsigned_t<std::conditional_t<(sizeof(T) < 4), std::int32_t, T>>;
}  // namespace detail

struct Add {
    template <class T>
    static T of(T a, T b) {
        if constexpr (std::is_same_v<T, bool>)
            return a || b;
        else if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<detail::Wrapping<T>>(a) +
                                  static_cast<detail::Wrapping<T>>(b));
        else
            return a + b;
    }
};
struct Mul {
    template <class T>
    static T of(T a, T b) {
        if constexpr (std::is_same_v<T, bool>)
            return a && b;
        else if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<detail::Wrapping<T>>(a) *
                                  static_cast<detail::Wrapping<T>>(b));
        else
            return a * b;
    }
};
template <bool smaller>
struct Extreme {
    template <class T>
    static T of(T a, T b) {
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(a)) return a;
            if (std::isnan(b)) return b;
        }
        return smaller ? std::min(a, b) : std::max(a, b);
    }
};
using Min = Extreme<true>;
using Max = Extreme<false>;
/// Bitwise: integers and bool.
struct And {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(a & b);
    }
};
struct Or {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(a | b);
    }
};

}  // namespace hocket::fold
