// SPDX-License-Identifier: BSD-3-Clause
// The memory order of a local array during a remap: a dimension may be divided, and its parts may
// be apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hocket::remap {

/// A dimension of the local array, or one part of a divided one.
struct Digit {
    std::size_t dimension;
    int part;  // 0: the whole dimension, or its outermost part; inner parts follow
    std::int64_t extent;
};
using Digits = std::vector<Digit>;  // slowest first

inline std::int64_t count(const Digits& digits) {
    std::int64_t product = 1;
    for (const Digit& digit : digits) product *= digit.extent;
    return product;
}

inline void append(Digits& to, const Digits& more) {
    to.insert(to.end(), more.begin(), more.end());
}

/// The dimensions in another order, with the parts of each joined.
inline Digits in_order(const Digits& digits, std::span<const std::int64_t> dimensions) {
    Digits out;
    for (const std::int64_t dimension : dimensions) {
        const auto first = static_cast<std::ptrdiff_t>(out.size());
        for (const Digit& digit : digits)
            if (digit.dimension == static_cast<std::size_t>(dimension)) out.push_back(digit);
        std::sort(out.begin() + first, out.end(),
                  [](const Digit& a, const Digit& b) { return a.part < b.part; });
    }
    return out;
}

}  // namespace hocket::remap
