// SPDX-License-Identifier: BSD-3-Clause
// JSON, by nlohmann-json. Only this header includes its headers, so that few sources compile them.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hocket/error.hpp"

namespace hocket::zarr::json {

using Value = nlohmann::ordered_json;

// Functions for values call themselves for each level of nesting. Python reads up to 1000.
constexpr int deepest = 512;

/// The largest number of lists and objects, one in another.
inline int depth_of(std::string_view text) {
    int depth = 0, most = 0;
    bool quoted = false;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const char each = text[k];
        if (quoted && each == '\\') {
            ++k;
        } else if (each == '"') {
            quoted = !quoted;
        } else if (!quoted && (each == '[' || each == '{')) {
            most = std::max(most, ++depth);
        } else if (!quoted && (each == ']' || each == '}')) {
            --depth;
        }
    }
    return most;
}

/// Its first characters for a message, which has ASCII only of what may be anything.
inline std::string beginning_of(std::string_view text) {
    std::string out;
    for (const char each : text.substr(0, 80)) out += ' ' <= each && each <= '~' ? each : '?';
    return out;
}

/// `what`: "zarr.json of 't'". @throws Error
inline Value parse(std::string_view text, const std::string& what, int most = deepest) {
    if (const int depth = depth_of(text); depth > most)
        throw Error(what + " has lists and objects " + std::to_string(depth) +
                    " deep, one in another; hocket allows " + std::to_string(most));
    Value value = Value::parse(text, nullptr, false);
    if (value.is_discarded())
        throw Error(what + " is no JSON, or has a number that is too large: " + beginning_of(text));
    return value;
}

/// In one line; replaces invalid UTF-8.
inline std::string text(const Value& value) {
    return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

}  // namespace hocket::zarr::json
