// SPDX-License-Identifier: BSD-3-Clause
// The processes of this node, from /proc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace hocket::shm {

/// One process, from /proc/PID/stat.
struct ProcessEntry {
    std::string name;  // of its program, cut to 15 characters
    char state = '?';  // 'Z' and 'X': it has ended
    std::int64_t parent = 0;
    std::int64_t start = 0;  // clock tick

    bool ended() const { return state == 'Z' || state == 'X'; }
};

/// Nothing for a process that does not exist or that /proc hides.
std::optional<ProcessEntry> process_entry(std::int64_t process);

/// All processes, by id.
std::map<std::int64_t, ProcessEntry> process_table();

/// The environment with which a process was started. Nothing if this process cannot read it, or if
/// the process has overwritten it.
std::optional<std::map<std::string, std::string>> environment_of(std::int64_t process);

}  // namespace hocket::shm
