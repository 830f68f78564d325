// SPDX-License-Identifier: BSD-3-Clause
// JSON, by nlohmann-json. Only this header includes its headers, so that few sources compile them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
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

// nlohmann-json reads integers beyond 64 bits as floats. The state of a generator of random numbers
// has such integers, so they are texts here that begin with U+FFFF, which is no character.
constexpr std::string_view mark = "\"\xEF\xBF\xBF";
constexpr std::size_t longest_integer = 300;  // a longer one may be too large for a float, too

/// "-1", not "01", "1.0".
inline bool is_integer(std::string_view text) {
    const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
    return !digits.empty() && digits.front() != '0' &&
           digits.find_first_not_of("0123456789") == digits.npos;
}

inline bool is_large_integer(std::string_view text) {
    if (!is_integer(text) || text.size() > longest_integer) return false;
    std::int64_t number = 0;
    std::uint64_t natural = 0;
    const char* const end = text.data() + text.size();
    return std::from_chars(text.data(), end, number).ec != std::errc() &&
           std::from_chars(text.data(), end, natural).ec != std::errc();
}

inline bool is_large_integer(const Value& value) {
    return value.is_string() && value.get<std::string>().starts_with(mark.substr(1));
}

inline std::string with_marks(std::string_view text) {
    std::string out;
    bool quoted = false;
    for (std::size_t k = 0, next = 0; k < text.size(); k = next) {
        next = k + (quoted && text[k] == '\\' ? 2 : 1);
        if (text[k] == '"') quoted = !quoted;
        if (!quoted && (text[k] == '-' || ('0' <= text[k] && text[k] <= '9')))
            next = std::min(text.find_first_not_of("+-.0123456789eE", k), text.size());
        const std::string_view token = text.substr(k, next - k);
        const bool large = !quoted && is_large_integer(token);
        out.append(large ? mark : "").append(token).append(large ? "\"" : "");
    }
    return out;
}

inline std::string without_marks(std::string_view text) {
    std::string out;
    for (std::size_t k = 0, next = 0; k < text.size(); k = next) {
        next = std::min(text.find(mark, k + 1), text.size());
        std::string_view part = text.substr(k, next - k);
        if (part.starts_with(mark) && !out.ends_with('\\')) {
            const std::size_t end = std::min(part.find('"', 1), part.size() - 1);
            const std::string_view integer = part.substr(mark.size(), end - mark.size());
            if (is_integer(integer) && part.substr(end + 1, 1) != ":") {  // no name of a member
                out.append(integer);
                part.remove_prefix(end + 1);
            }
        }
        out.append(part);
    }
    return out;
}

/// Integers beyond 64 bits become floats. `what`: "zarr.json of 't'". @throws Error
inline Value parse_rounded(std::string_view text, const std::string& what, int most = deepest) {
    if (const int depth = depth_of(text); depth > most)
        throw Error(what + " has lists and objects " + std::to_string(depth) +
                    " deep, one in another; hocket allows " + std::to_string(most));
    Value value = Value::parse(text, nullptr, false);
    if (value.is_discarded())
        throw Error(what + " is no JSON, or has a number that is too large: " + beginning_of(text));
    return value;
}

/// Integers beyond 64 bits become texts with the mark. @throws Error
inline Value parse(std::string_view text, const std::string& what, int most = deepest) {
    return parse_rounded(with_marks(text), what, most);
}

/// In one line; replaces invalid UTF-8.
inline std::string text(const Value& value) {
    return without_marks(value.dump(-1, ' ', false, Value::error_handler_t::replace));
}

}  // namespace hocket::zarr::json
