// SPDX-License-Identifier: BSD-3-Clause
// Parts of messages.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::text {

/// The candidate closest to `name` by edit distance (insert, delete, replace, swap neighbours), or
/// "" if none is close enough.
std::string closest_name(std::string_view name, std::span<const std::string> candidates);

/// " (did you mean 'cols'?)", or "" if nothing is close.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// "(4, 3)"; one item: "(4)".
template <class Range>
std::string tuple(const Range& items) {
    std::string out = "(";
    for (const auto& item : items) {
        if (out.size() > 1) out += ", ";
        out += std::to_string(item);
    }
    return out + ")";
}

/// "'rows'"; control characters as \x0a, since one of them, 0, would end an error's text.
std::string quoted(std::string_view name);
/// "'rows', 'cols'".
std::string quoted_list(std::span<const std::string> names);

/// Without blanks at both ends.
std::string trimmed(std::string text);

/// Whether Python and JSON can hold it (RFC 3629).
bool is_utf8(std::string_view text);

/// "0.25 s".
std::string seconds(double value);

/// The 64-bit integer that the whole text denotes, if it does.
std::optional<std::int64_t> whole_number(std::string_view written);

}  // namespace hocket::text
