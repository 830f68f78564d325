// SPDX-License-Identifier: BSD-3-Clause
// JSON, by nlohmann-json. Only this header includes its headers, so that few sources compile them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hocket/error.hpp"

namespace hocket::zarr::json {

using Value = nlohmann::ordered_json;

/// `what`: "zarr.json of 't'". @throws Error
inline Value parse(std::string_view text, const std::string& what) {
    Value value = Value::parse(text, nullptr, false);
    if (value.is_discarded()) throw Error(what + " is no JSON: " + std::string(text.substr(0, 80)));
    return value;
}

/// In one line; replaces invalid UTF-8.
inline std::string text(const Value& value) {
    return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

}  // namespace hocket::zarr::json
