// SPDX-License-Identifier: BSD-3-Clause
// The processes that the launcher of this process has started on this node, as /proc shows them.
// They are known without a word of theirs: also those that never load hocket.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shm/liveness.hpp"

namespace hocket::shm {

/// How a launcher's processes are told from others.
struct Launcher {
    std::vector<std::string> names;  // that its process on each node may have
    std::string rank;                // the variable by which it tells a process its rank
    // Variables that are the same in all processes of one program; nothing: they have none such.
    std::map<std::string, std::optional<std::string>> same;
};

/// What the launcher has started as one rank.
struct LaunchedProcess {
    int rank = 0;
    ProcessIdentity identity;
    std::vector<ProcessIdentity> processes;  // itself and all that it has started, as a shell does
};

struct LaunchedJob {
    std::vector<LaunchedProcess> processes;  // that have not ended
    bool complete = false;                   // none may be another rank, whose rank cannot be read
};

/// Nothing where the launcher of this process cannot be seen.
std::optional<LaunchedJob> find_launched_job(const Launcher& launcher);

}  // namespace hocket::shm
