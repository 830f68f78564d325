// SPDX-License-Identifier: BSD-3-Clause
// Options of moves between arrays and stores, from C's arguments.
#pragma once

#include <cstdint>
#include <span>

#include "guard.hpp"
#include "handles.hpp"
#include "hocket/store.hpp"

namespace hocket::c {

/// A list with an entry for each dimension, as a caller gives it.
struct Given {
    std::int64_t count;
    const std::int64_t* values;
};

inline StoreOptions store_options_of(Given lower, Given upper, Given order, std::int64_t writers,
                                     std::int64_t max_buffer) {
    const auto shape_of = [](Given given, const char* name) {
        const auto values = by_dimension(given.count, given.values, name);
        return Shape(values.begin(), values.end());
    };
    StoreOptions options;
    if (lower.count != 0 || upper.count != 0)
        options.region = IndexBox{shape_of(lower, "lower"), shape_of(upper, "upper")};
    options.axes = shape_of(order, "order");
    options.writers = writers;
    if (max_buffer != 0) options.max_buffer = max_buffer;
    return options;
}

}  // namespace hocket::c
