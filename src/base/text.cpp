// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>

namespace hocket::text {
namespace {

char lower(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// Optimal string alignment distance.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0u : 1u)});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1])) {
                now[j] = std::min(now[j], before[j - 2] + 1);
            }
        }
        std::swap(before, last);
        std::swap(last, now);
    }
    return last[b.size()];
}

}  // namespace

std::string closest_name(std::string_view name, std::span<const std::string> candidates) {
    std::string best;
    std::size_t fewest = std::max<std::size_t>(name.size(), 3) / 3 + 1;
    for (const auto& candidate : candidates) {
        const std::size_t edits = distance(name, candidate);
        // If every character differs, it is another name: x is not i misspelled.
        if (edits < fewest && edits < std::max(name.size(), candidate.size())) {
            fewest = edits;
            best = candidate;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
    const std::string near = closest_name(name, candidates);
    return near.empty() ? "" : " (did you mean '" + near + "'?)";
}

std::string quoted(std::string_view name) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "'";
    for (const char c : name) {
        const auto code = static_cast<unsigned char>(c);
        if (code >= 0x20 && code != 0x7f)
            out += c;
        else
            out += {'\\', 'x', digits[code / 16], digits[code % 16]};
    }
    return out + "'";
}

std::string quoted_list(std::span<const std::string> names) {
    std::string out;
    for (const auto& name : names) {
        if (!out.empty()) out += ", ";
        out += "'" + name + "'";
    }
    return out;
}

std::string trimmed(std::string text) {
    const char* blanks = " \t\r";
    text.erase(0, text.find_first_not_of(blanks));
    text.erase(text.find_last_not_of(blanks) + 1);
    return text;
}

bool is_utf8(std::string_view text) {
    for (std::size_t k = 0; k < text.size();) {
        const auto first = static_cast<unsigned char>(text[k++]);
        const int more = first < 0x80   ? 0
                         : first < 0xC0 ? -1
                         : first < 0xE0 ? 1
                         : first < 0xF0 ? 2
                                        : 3;
        if (more < 0 || first > 0xF4 || text.size() - k < static_cast<std::size_t>(more))
            return false;
        std::uint32_t code = more == 0 ? first : first & (0x3FU >> more);
        for (int n = 0; n < more; ++n) {
            const auto next = static_cast<unsigned char>(text[k++]);
            if ((next & 0xC0U) != 0x80) return false;
            code = code << 6U | (next & 0x3FU);
        }
        constexpr std::array<std::uint32_t, 4> least{0, 0x80, 0x800, 0x10000};
        if (code < least[static_cast<std::size_t>(more)] || code > 0x10FFFF ||
            (0xD800 <= code && code < 0xE000))
            return false;
    }
    return true;
}

std::string seconds(double value) {
    char out[32];
    std::snprintf(out, sizeof out, "%.3g s", value);
    return out;
}

std::optional<std::int64_t> whole_number(std::string_view written) {
    std::int64_t value = 0;
    const char* const end = written.data() + written.size();
    const auto [stopped, problem] = std::from_chars(written.data(), end, value);
    if (problem != std::errc() || stopped != end) return std::nullopt;
    return value;
}

}  // namespace hocket::text
