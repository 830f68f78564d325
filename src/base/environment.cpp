// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/text.hpp"
#include "hocket/error.hpp"

namespace hocket::environment {
namespace {

constinit const ValidatedSetting* last_checked = nullptr;
constinit const JobSetting* last_of_job = nullptr;

std::string_view without_spaces(std::string_view given) {
    while (!given.empty() && given.front() == ' ') given.remove_prefix(1);
    while (!given.empty() && given.back() == ' ') given.remove_suffix(1);
    return given;
}

// The factor of a suffix ("K", "k", "KB", "KiB"), a power of 1024; nothing for an unknown one.
std::optional<double> unit_of(std::string_view suffix) {
    const std::string_view powers = "KMGT";
    double unit = 1;
    if (!suffix.empty()) {
        const char letter =
            static_cast<char>(std::toupper(static_cast<unsigned char>(suffix.front())));
        if (const std::size_t power = powers.find(letter); power != std::string_view::npos) {
            for (std::size_t k = 0; k <= power; ++k) unit *= 1024;
            suffix.remove_prefix(1);
            if (!suffix.empty() && suffix.front() == 'i') suffix.remove_prefix(1);
        }
    }
    if (suffix.empty() || suffix == "B" || suffix == "b") return unit;
    return std::nullopt;
}

}  // namespace

ValidatedSetting::ValidatedSetting(void (*read)()) noexcept
    : read_(read), before_(std::exchange(last_checked, this)) {}

void check() {
    for (const ValidatedSetting* each = last_checked; each != nullptr; each = each->before_)
        each->read_();
}

JobSetting::JobSetting(const char* name, std::string (*value)()) noexcept
    : name_(name), value_(value), before_(std::exchange(last_of_job, this)) {}

std::vector<std::pair<std::string, std::string>> job_settings() {
    std::vector<std::pair<std::string, std::string>> found;
    for (const JobSetting* each = last_of_job; each != nullptr; each = each->before_)
        found.emplace_back(each->name_, each->value_());
    std::sort(found.begin(), found.end());
    return found;
}

std::optional<std::string> value_of(const char* name) {
    const char* given = std::getenv(name);
    if (given == nullptr || *given == '\0') return std::nullopt;
    return given;
}

std::optional<std::int64_t> number(const char* name, std::int64_t least, std::int64_t most,
                                   std::string_view meaning) {
    const auto given = value_of(name);
    if (!given) return std::nullopt;
    const auto value = text::whole_number(without_spaces(*given));
    if (value && *value >= least && *value <= most) return value;
    throw Error(std::string(name) + " is '" + *given + "'; set it to " + std::string(meaning) +
                " from " + std::to_string(least) + " to " + std::to_string(most) + ", or unset it");
}

std::optional<std::int64_t> bytes(const char* name) {
    const auto given = value_of(name);
    if (!given) return std::nullopt;
    const std::string_view all = without_spaces(*given);
    double value = 0;
    const auto [end, problem] =
        std::from_chars(all.data(), all.data() + all.size(), value, std::chars_format::fixed);
    const std::string_view suffix(end, static_cast<std::size_t>(all.data() + all.size() - end));
    const auto unit = unit_of(without_spaces(suffix));
    constexpr double most = 0x1p62;
    if (problem != std::errc() || !unit || !(value >= 0) || !(value * *unit <= most))
        throw Error(std::string(name) + " is '" + *given +
                    "'; set it to a number of bytes, as 1073741824, 1024M or 1G, or unset it");
    return static_cast<std::int64_t>(value * *unit);
}

std::string kept_path() {
    if (const auto named = value_of("HOCKET_MODEL")) return *named;
    if (const auto config = value_of("XDG_CONFIG_HOME")) return *config + "/hocket/model";
    if (const auto home = value_of("HOME")) return *home + "/.config/hocket/model";
    return "";
}

std::optional<std::vector<std::int64_t>> numbers(const char* name) {
    const auto given = value_of(name);
    if (!given) return std::nullopt;
    std::vector<std::int64_t> found;
    for (std::string_view rest = *given;;) {
        const std::size_t comma = rest.find(',');
        const auto value = text::whole_number(without_spaces(rest.substr(0, comma)));
        if (!value)
            throw Error(std::string(name) + " is '" + *given +
                        "'; set it to whole numbers with commas, as 0,0,1,1, or unset it");
        found.push_back(*value);
        if (comma == std::string_view::npos) return found;
        rest.remove_prefix(comma + 1);
    }
}

}  // namespace hocket::environment
