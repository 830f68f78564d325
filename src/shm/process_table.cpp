// SPDX-License-Identifier: BSD-3-Clause
#include "shm/process_table.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace hocket::shm {
namespace {

std::string path_of(std::int64_t process, const char* file) {
    return "/proc/" + std::to_string(process) + "/" + file;
}

}  // namespace

// The name, in parentheses, may contain any character; fields 3, 4, … follow it.
std::optional<ProcessEntry> process_entry(std::int64_t process) {
    std::ifstream file(path_of(process, "stat"));
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    const auto name = all.find('('), name_end = all.rfind(')');
    if (name == std::string::npos || name_end == std::string::npos) return std::nullopt;
    ProcessEntry entry;
    entry.name = all.substr(name + 1, name_end - name - 1);
    std::istringstream fields(all.substr(name_end + 1));
    fields >> entry.state >> entry.parent;
    std::string skipped;
    for (int field = 5; field < 22; ++field) fields >> skipped;
    fields >> entry.start;
    if (!fields) return std::nullopt;
    return entry;
}

std::map<std::int64_t, ProcessEntry> process_table() {
    std::map<std::int64_t, ProcessEntry> table;
    std::error_code problem;
    std::filesystem::directory_iterator each("/proc", problem);
    for (; !problem && each != std::filesystem::directory_iterator(); each.increment(problem)) {
        const std::string name = each->path().filename().string();
        std::int64_t process = 0;
        const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), process);
        if (wrong != std::errc() || end != name.data() + name.size()) continue;
        if (auto entry = process_entry(process)) table.emplace(process, std::move(*entry));
    }
    return table;
}

std::optional<std::map<std::string, std::string>> environment_of(std::int64_t process) {
    std::ifstream file(path_of(process, "environ"));
    std::map<std::string, std::string> variables;
    for (std::string line; std::getline(file, line, '\0');) {
        const auto equals = line.find('=');
        if (equals != std::string::npos)
            variables.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
    if (variables.empty()) return std::nullopt;
    return variables;
}

}  // namespace hocket::shm
