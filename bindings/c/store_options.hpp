// SPDX-License-Identifier: BSD-3-Clause
// Options of stores, from C's structs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "guard.hpp"
#include "handles.hpp"
#include "hocket/store.hpp"

namespace hocket::c {

inline Shape shape_of(std::int64_t count, const std::int64_t* values, const char* name) {
    const auto each = by_dimension(count, values, name);
    return {each.begin(), each.end()};
}

inline std::string text_or(const char* text, const char* usual) {
    return text == nullptr ? usual : text;
}

inline std::vector<std::string> texts_of(std::int64_t count, const char* const* texts,
                                         const char* name) {
    std::vector<std::string> out;
    for (const char* const each : list(count, texts, name)) out.push_back(text_of(each, name));
    return out;
}

/// The region, and the bound of buffers.
template <class Options>
StoreOptions region_options_of(const Options& given) {
    StoreOptions options;
    if (given.lower_dimensions != 0 || given.upper_dimensions != 0)
        options.region = IndexBox{shape_of(given.lower_dimensions, given.lower, "lower"),
                                  shape_of(given.upper_dimensions, given.upper, "upper")};
    if (given.max_buffer != 0) options.max_buffer = given.max_buffer;
    return options;
}

inline StoreOptions store_options_of(const hocket_write_options* given) {
    if (given == nullptr) return {};
    StoreOptions options = region_options_of(*given);
    options.writers = given->writers;
    options.copy = given->copy;
    return options;
}

inline StoreOptions store_options_of(const hocket_read_options* given) {
    if (given == nullptr) return {};
    StoreOptions options = region_options_of(*given);
    options.axes = shape_of(given->order_dimensions, given->order, "order");
    options.dtype = text_or(given->dtype, "");
    return options;
}

}  // namespace hocket::c
