// SPDX-License-Identifier: BSD-3-Clause
// What folds and gathers by leaders have in common. Of a node, up to 16 processes have the first of
// them as their leader, 16 leaders the first of them as theirs, and so on. Whatever the operation,
// the first that a process says in a round is for its leader, and begins with the header: so those
// who disagree on the operation meet.
#pragma once

#include <string>
#include <vector>

#include "base/pack.hpp"
#include "team/partial_result.hpp"
#include "team/peer_wait.hpp"
#include "team/round.hpp"

namespace hocket::team {

FlagPair& flags_with(const Round& round, std::size_t member);

/// Ends the round at once, for all, where those who disagree do not wait for each other alike.
void check_mismatch(const Round& round, const PartialResult& partial);
/// That what came as an answer from that process is one.
void check_sender(const Round& round, std::size_t member, std::uint64_t header);

/// Every node's text, on one process of each.
comm::Protocol<std::vector<std::string>> between_nodes(Round& round, std::string mine);
/// A text begins with a piece.
void pack(Packer& out, const PartialResult& partial);
PartialResult unpacked(Unpacker& in);

/// All values, on every process of several nodes.
comm::Protocol<> gather(Round& round);

}  // namespace hocket::team
