// SPDX-License-Identifier: BSD-3-Clause
// Common parts of folds and gathers by leaders. Up to 16 processes of a node have the first of them
// as their leader, up to 16 leaders the first of them, and so on. In every operation, a process
// first publishes to its leader, beginning with its header; so leaders see different calls.
#pragma once

#include <string>
#include <vector>

#include "base/pack.hpp"
#include "team/partial_result.hpp"
#include "team/peer_wait.hpp"
#include "team/round.hpp"

namespace hocket::team {

FlagPair& flags_with(const Round& round, std::size_t member);

/// Ends the round on all processes if the calls differ so that processes wait for calls that never
/// come.
void check_mismatch(const Round& round, const PartialResult& partial);
/// Checks that the message of that process is an answer of this round.
void check_sender(const Round& round, std::size_t member, std::uint64_t header);

/// The values of consecutive nodes, cyclically, from this process's on. This class: none.
class NodeValues {
  public:
    virtual ~NodeValues() = default;
    /// Writes what the process of an earlier node needs to append the first `count` nodes.
    virtual void write(std::size_t /*count*/, Packer& /*out*/) const {}
    /// Appends the next `count` nodes, as the process of the first of these wrote them.
    virtual void append(std::size_t /*count*/, Unpacker& /*in*/) {}
};
/// For one process of each node: exchanges values until each has those of all nodes, or all know a
/// mismatch.
comm::Protocol<> between_nodes(Round& round, PartialResult& partial, NodeValues& values);

/// Gathers all values to every process of several nodes.
comm::Protocol<> gather(Round& round);

}  // namespace hocket::team
