// SPDX-License-Identifier: BSD-3-Clause
// Makes a halo from C's arguments, for both memory orders.
#pragma once

#include "handles.hpp"

namespace hocket::c {

inline Halo halo_of(const hocket_array* array, const int64_t* width, const bool* periodic,
                    Order order) {
    const auto held = behind(array);
    const auto dimensions = static_cast<std::int64_t>(held->value.layout().dimensions());
    const auto widths = list(dimensions, width, "width");
    std::vector<bool> flags;
    if (periodic != nullptr) flags.assign(periodic, periodic + dimensions);
    return Halo(held->value, {widths.begin(), widths.end()}, flags, order);
}

}  // namespace hocket::c
