// SPDX-License-Identifier: BSD-3-Clause
#include "parameters.hpp"

#include <charconv>

#include "hocket/error.hpp"

namespace apps {
namespace {

template <class T>
T number(const std::string& name, const std::string& text, const char* what) {
    T value{};
    const char* const end = text.data() + text.size();
    const auto [stopped, problem] = std::from_chars(text.data(), end, value);
    if (problem != std::errc{} || stopped != end)
        throw hocket::Error(name + "=" + text + " is no " + what);
    return value;
}

}  // namespace

Parameters::Parameters(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            throw hocket::Error("'" + word + "' is no name=value; `hocket app` knows the words");
        values_[word.substr(0, equals)] = word.substr(equals + 1);
    }
}

const std::string& Parameters::text(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end())
        throw hocket::Error(name + "= is missing; `hocket app` gives all that a program needs");
    return found->second;
}

std::int64_t Parameters::whole(const std::string& name, std::int64_t least) const {
    const auto value = number<std::int64_t>(name, text(name), "whole number");
    if (value < least)
        throw hocket::Error(name + "=" + text(name) + ": at least " + std::to_string(least));
    return value;
}

double Parameters::real(const std::string& name) const {
    return number<double>(name, text(name), "number");
}

std::vector<std::string> Parameters::words(const std::string& name) const {
    std::vector<std::string> found;
    const std::string& all = text(name);
    for (std::size_t at = 0; at < all.size();) {
        const auto comma = std::min(all.find(',', at), all.size());
        found.push_back(all.substr(at, comma - at));
        at = comma + 1;
    }
    return found;
}

std::vector<std::int64_t> Parameters::wholes(const std::string& name) const {
    std::vector<std::int64_t> found;
    for (const auto& word : words(name))
        found.push_back(number<std::int64_t>(name, word, "list of whole numbers"));
    return found;
}

}  // namespace apps
