// SPDX-License-Identifier: BSD-3-Clause
#include "shm/launcher.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "shm/process_table.hpp"

namespace hocket::shm {
namespace {

using Table = std::map<std::int64_t, ProcessEntry>;

bool is_launcher(const Launcher& launcher, const ProcessEntry& entry) {
    return std::find(launcher.names.begin(), launcher.names.end(), entry.name) !=
           launcher.names.end();
}

/// The nearest launcher above a process, and its child towards the process.
std::optional<std::pair<std::int64_t, std::int64_t>> above(std::int64_t process, const Table& table,
                                                           const Launcher& launcher) {
    for (auto at = table.find(process); at != table.end();) {
        const auto parent = table.find(at->second.parent);
        if (parent == table.end()) return std::nullopt;
        if (is_launcher(launcher, parent->second)) return std::pair(parent->first, at->first);
        at = parent;
    }
    return std::nullopt;
}

bool same_program(const Launcher& launcher, const std::map<std::string, std::string>& variables) {
    return std::all_of(launcher.same.begin(), launcher.same.end(), [&](const auto& expected) {
        const auto found = variables.find(expected.first);
        return expected.second ? found != variables.end() && found->second == *expected.second
                               : found == variables.end();
    });
}

}  // namespace

std::optional<std::multimap<int, std::vector<ProcessIdentity>>> launched_processes(
    const Launcher& launcher) {
    const Table table = process_table();
    const ProcessIdentity me = own_identity();
    const auto mine = above(me.process, table, launcher);
    if (!mine) return std::nullopt;
    std::multimap<int, std::vector<ProcessIdentity>> all;
    for (const auto& [process, entry] : table) {
        if (entry.parent != mine->first || entry.ended()) continue;
        const auto variables = environment_of(process);
        std::optional<std::int64_t> rank;
        if (!variables) {
            rank = -1;
        } else if (same_program(launcher, *variables)) {
            const auto found = variables->find(launcher.rank);
            if (found != variables->end()) rank = text::whole_number(found->second);
        }
        if (rank)
            all.emplace(static_cast<int>(*rank),
                        std::vector{ProcessIdentity{process, entry.start, me.pid_namespace}});
    }
    for (const auto& [process, entry] : table) {
        const auto its = above(process, table, launcher);
        if (!its || its->first != mine->first || its->second == process) continue;
        for (auto& [rank, processes] : all)
            if (processes[0].process == its->second)
                processes.push_back({process, entry.start, me.pid_namespace});
    }
    return all;
}

}  // namespace hocket::shm
