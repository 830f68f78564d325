// SPDX-License-Identifier: BSD-3-Clause
// The processes that the launcher of this process has started on this node, as /proc shows them.
// So hocket also knows those that never load it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shm/liveness.hpp"

namespace hocket::shm {

/// Marks by which hocket recognises a launcher's processes.
struct Launcher {
    std::vector<std::string> names;  // possible names of its process on each node
    std::string rank;                // the variable with a process's rank
    // Variables that are equal in all processes of one program; nothing: the launcher sets none.
    std::map<std::string, std::optional<std::string>> same;
};

/// The processes that the launcher has started and that have not ended, by rank (-1: it cannot be
/// read, and may be any): each with its children, as of a shell. Nothing where the launcher of this
/// process cannot be seen.
std::optional<std::multimap<int, std::vector<ProcessIdentity>>> launched_processes(
    const Launcher& launcher);

}  // namespace hocket::shm
