// SPDX-License-Identifier: BSD-3-Clause
// Slices from C's arguments: one a dimension.
#pragma once

#include <vector>

#include "guard.hpp"
#include "hocket/layout.hpp"

namespace hocket::c {

inline std::vector<Slice> slices_of(const Layout& layout, const hocket_slice* slices) {
    std::vector<Slice> out;
    for (const auto& [first, count, step, keep] :
         list(static_cast<std::int64_t>(layout.dimensions()), slices, "slices"))
        out.push_back({first, count, step, keep});
    return out;
}

}  // namespace hocket::c
