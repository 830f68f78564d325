// SPDX-License-Identifier: BSD-3-Clause
// The order in which a local array lies in memory while it is remapped: a dimension may be split,
// and its parts may lie apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hocket::remap {

/// A dimension of the local array, or one of the parts of one that is split.
struct Digit {
    std::size_t dimension;
    int part;  // 0: all of it, or the outermost part; others follow inwards
    std::int64_t extent;
};
using Digits = std::vector<Digit>;  // slowest first

inline std::int64_t count(const Digits& digits) {
    std::int64_t product = 1;
    for (const Digit& digit : digits) product *= digit.extent;
    return product;
}

inline void append(Digits& to, const Digits& what) {
    to.insert(to.end(), what.begin(), what.end());
}

/// The dimensions in another order, the parts of each put together.
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
