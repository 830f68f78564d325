// SPDX-License-Identifier: BSD-3-Clause
// One round of a team as a protocol, for rounds that take longer than a few polls.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "comm/call.hpp"
#include "comm/protocol.hpp"
#include "team/call.hpp"
#include "team/group.hpp"
#include "team/root.hpp"

namespace hocket::team {

/// Up to so many processes of a node exchange values directly; larger groups have leaders.
inline constexpr std::size_t max_fan_in = 16;

struct Round {
    std::shared_ptr<Root> root;
    std::shared_ptr<const Group> group;
    Header header;
    std::vector<std::uint64_t> value;   // this process's
    bool all = false;                   // the result depends on each value, not only on their fold
    std::optional<std::size_t> source;  // of a call without a barrier: as for Root::pass

    bool published = false;    // this process has already published, in a direct round
    std::size_t observed = 0;  // number of members whose values have arrived

    std::vector<std::uint64_t> values;  // of all members, in order
    std::uint64_t result = 0;           // the fold of all values

    /// All members share memory, and each publishes to all others.
    bool direct() const {
        return !source && group->in_node && (all || group->size() <= max_fan_in);
    }
};

/// "reduce_add of float64 of the team 0-3", for errors and long waits.
std::string text_of(const Header& header, const Group& group);

/// Whether a round carries the values of all members to all: if the result depends on each value,
/// if a scan would fold processes out of their order, and if the flags of a waitvec are more than
/// fit in a word.
bool takes_all(const Group& group, Op op);

/// Executes the round, after the rounds of `before`.
comm::Protocol<> drive(std::shared_ptr<Round> round,
                       std::vector<std::shared_ptr<comm::Call>> before);

/// Whether the differing calls make processes wait for calls that never come.
bool groups_disagree(const Group& group, const Mismatch& mismatch);
/// @throws the error of the differing calls; aborts the team if `groups_disagree`.
[[noreturn]] void throw_mismatch(const Round& round, const Mismatch& mismatch);

/// Finds two members whose headers differ, given all headers in the group's order.
std::optional<Mismatch> mismatch_of(const Group& group, const std::vector<std::uint64_t>& headers);
/// Finds them in the payloads of the last direct round.
std::optional<Mismatch> mismatch_of(const Group& group, const Header& mine);

// pass.cpp

/// A call without a barrier: the member whose value this one takes, and those that take its value.
struct Route {
    Route(const Group& group, Op op, std::size_t source);
    bool chain;               // a scan, which passes on what it has received
    std::size_t first, last;  // without this one
    std::optional<std::size_t> from;
};

comm::Protocol<> pass_round(Round& round);

// hierarchical.cpp

/// Rounds by leaders: for several nodes, and for large groups.
comm::Protocol<> hierarchical_round(Round& round);

}  // namespace hocket::team
