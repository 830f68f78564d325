// SPDX-License-Identifier: BSD-3-Clause
// The cost model as text, and its file.
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "hocket/plan.hpp"

namespace hocket::plan {

namespace {

struct Entry {
    std::string name;
    double Model::*value;
};
const std::array<Entry, 7> entries{{{"message", &Model::message},
                                    {"byte", &Model::byte},
                                    {"copy", &Model::copy},
                                    {"relay", &Model::relay},
                                    {"far_message", &Model::far_message},
                                    {"far_byte", &Model::far_byte},
                                    {"far_relay", &Model::far_relay}}};

void read_line(const std::string& line, std::size_t number, Model& model) {
    const std::string where = "line " + std::to_string(number) + " of the model, '" + line + "',";
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos)
        throw Error(where + " is not of the form name = seconds; write it as message = 5e-7");
    const std::string name = text::trimmed(line.substr(0, equals)),
                      given = text::trimmed(line.substr(equals + 1));
    for (const Entry& entry : entries) {
        if (entry.name != name) continue;
        double seconds = -1;
        const char* end = given.data() + given.size();
        const auto [stop, problem] = std::from_chars(given.data(), end, seconds);
        if (problem != std::errc() || stop != end || !(seconds >= 0) || !std::isfinite(seconds))
            throw Error(where + " has no number of seconds, 0 or more; write it as message = 5e-7");
        model.*entry.value = seconds;
        return;
    }
    std::vector<std::string> names;
    for (const Entry& entry : entries) names.push_back(entry.name);
    throw Error(where + " names no cost" + text::did_you_mean(name, names) + "; the costs are " +
                text::quoted_list(names));
}

Model read(const std::string& path, bool wanted) {
    std::ifstream file(path);
    if (!file) {
        if (!wanted) return {};
        throw Error("HOCKET_MODEL names the file '" + path +
                    "', which cannot be read; write one with `hocket calibrate`, set it to "
                    "'default', or unset it");
    }
    std::stringstream all;
    all << file.rdbuf();
    try {
        return Model::parse(all.str());
    } catch (const Error& error) {
        throw Error("the file '" + path + "' is no cost model: " + error.what() +
                    "; write it anew with `hocket calibrate`");
    }
}

}  // namespace

std::string Model::text() const {
    std::string out = "# Seconds: what messages cost here. See `hocket calibrate`.\n";
    for (const Entry& entry : entries) {
        std::array<char, 32> digits{};
        const auto end =
            std::to_chars(digits.data(), digits.data() + digits.size(), this->*entry.value).ptr;
        out += entry.name + " = " + std::string(digits.data(), end) + "\n";
    }
    return out;
}

Model Model::parse(const std::string& text) {
    Model model;
    std::istringstream lines(text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        line = text::trimmed(line.substr(0, line.find('#')));
        if (!line.empty()) read_line(line, number, model);
    }
    return model;
}

std::string Model::kept_path() {
    return environment::kept_path();
}

namespace {
const environment::ValidatedSetting checked([] {
    if (environment::value_of("HOCKET_MODEL")) static_cast<void>(Model::kept());
});
}

const Model& Model::kept() {
    static const Model model = [] {
        const auto named = environment::value_of("HOCKET_MODEL");
        const std::string path = kept_path();
        if (path.empty() || (named && *named == "default")) return Model{};
        return read(path, named.has_value());
    }();
    return model;
}

}  // namespace hocket::plan
