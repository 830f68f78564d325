// SPDX-License-Identifier: BSD-3-Clause
// The processes that this one communicates with: where they are, and whether they are still there.
// MPI itself tells nobody that a process has died, and a launcher need not notice.
#pragma once

#include <string>
#include <vector>

#include "comm/link.hpp"
#include "shm/liveness.hpp"
#include "shm/status_page.hpp"

namespace hocket::comm {

/// A process of a communicator.
struct Peer {
    int node = 0;        // a number for its node, which may be pretended (HOCKET_NODES)
    int world_rank = 0;  // the rank that launchers and people know it by
    bool same_host = false;
    shm::ProcessIdentity identity;
    shm::SharedAddress status_page;
};

/// "rank 2", or with what else people call it: "rank 2 (task 'rows', process 0)".
std::string name_of(const Peer& peer, const std::string& words);

/// Of each rank. Collective over the link.
Protocol<std::vector<Peer>> find_peers(Link& link, int tag);

/// Every wait keeps an eye on those of this host from now on (comm/loss_detector.hpp).
void watch(const std::vector<Peer>& peers);
/// What else people call it: "task 'rows', process 0".
void describe(const Peer& peer, const std::string& words);

}  // namespace hocket::comm
