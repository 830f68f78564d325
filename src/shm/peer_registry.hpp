// SPDX-License-Identifier: BSD-3-Clause
// All processes of this host that this process has met, and which of them have ended or left.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "shm/liveness.hpp"
#include "shm/status_page.hpp"

namespace hocket::shm {

class PeerRegistry {
  public:
    static PeerRegistry& instance();

    /// Watches a process, if it can be seen from here and is another.
    void add(const ProcessIdentity& identity, const SharedAddress& status_page,
             const std::string& name);
    /// Another name of a watched process.
    void describe(const ProcessIdentity& identity, const std::string& name);
    /// The name of one that has ended without having left; empty while all live.
    std::string lost();
    /// Those that have left of one of the lists that `needs` gives (it is asked only if somebody
    /// has left at all) whose processes all have; empty if none has.
    std::string left_of(const std::function<std::vector<std::vector<std::int64_t>>()>& needs);
    /// The names of these processes: "rank 0 or rank 2"; "" if any of them is unknown here.
    std::string names_of(const std::vector<std::int64_t>& processes);

  private:
    std::mutex mutex_;
    std::map<std::int64_t, WatchedProcess> processes_;  // by process id
};

}  // namespace hocket::shm
