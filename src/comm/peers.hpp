// SPDX-License-Identifier: BSD-3-Clause
// The processes that this one communicates with: where they are, and whether they are still there.
// MPI itself tells nobody that a process has died, and a launcher need not notice.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "comm/link.hpp"
#include "shm/alive.hpp"
#include "shm/presence.hpp"

namespace hocket::comm {

/// A process of a communicator.
struct Peer {
    int node = 0;        // a number for its node, which may be pretended (HOCKET_NODES)
    int world_rank = 0;  // the rank that launchers and people know it by
    bool same_host = false;
    shm::Identity identity;
    shm::Place presence;
};

/// "rank 2", or with what else people call it: "rank 2 (task 'rows', process 0)".
std::string name_of(const Peer& peer, const std::string& words);

/// Of each rank. Collective over the link.
Protocol<std::vector<Peer>> find_peers(Link& link, int tag);

/// All processes of this host that this process has met.
class Watched {
  public:
    static Watched& instance();

    /// Keeps an eye on those of this host that can be seen from here.
    void add(const std::vector<Peer>& peers);
    /// What else people call it: "task 'rows', process 0".
    void describe(const Peer& peer, const std::string& words);
    /// One that has ended without having left, in words: "rank 2 (task 'rows', process 0)"; empty
    /// while all live.
    std::string lost();
    /// Those that have left of one of the lists that `needs` gives (it is asked only if somebody
    /// has left at all) whose processes all have; empty if none has.
    std::string left_of(const std::function<std::vector<std::vector<std::int64_t>>()>& needs);

  private:
    struct Entry {
        shm::Watch watch;
        shm::Presence presence;
        std::string words;
    };
    std::mutex mutex_;
    std::map<std::int64_t, Entry> entries_;  // by process id
};

}  // namespace hocket::comm
