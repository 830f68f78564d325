// SPDX-License-Identifier: BSD-3-Clause
// The processes with which this one communicates: their nodes, and whether they live. MPI reports
// no death of a process, and a launcher need not notice it.
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
    int world_rank = 0;  // the rank that launchers and users know
    bool same_host = false;
    shm::ProcessIdentity identity;
    shm::SharedAddress status_page;
};

/// "rank 2", or with a description: "rank 2 (task 'rows', process 0)".
std::string name_of(const Peer& peer, const std::string& words);

/// The peers of each rank. Collective over the link.
Protocol<std::vector<Peer>> find_peers(Link& link, int tag);

/// The number by which waits know it; it is negative for one of another host.
std::int64_t number_of(const Peer& peer);

/// Every wait monitors those of this host from now on (comm/loss_detector.hpp).
void watch(const std::vector<Peer>& peers);
/// A description for messages: "task 'rows', process 0".
void describe(const Peer& peer, const std::string& words);

}  // namespace hocket::comm
