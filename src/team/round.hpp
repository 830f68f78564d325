// SPDX-License-Identifier: BSD-3-Clause
// One operation of a team, as a protocol: for those that take longer than a look or two.
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

/// Up to so many processes of a node tell each other everything; more have leaders that fold.
inline constexpr std::size_t max_fan_in = 16;

struct Round {
    std::shared_ptr<Root> root;
    std::shared_ptr<const Group> group;
    Header header;
    std::vector<std::uint64_t> value;  // mine
    bool all = false;                  // everyone needs all values, and not what they fold to

    bool published = false;    // begun already, as one where all tell each other everything;
    std::size_t observed = 0;  // of the group's members

    std::vector<std::uint64_t> values;  // of all, in order
    std::uint64_t result = 0;           // what they fold to

    /// Memory is shared, and everyone hears everyone.
    bool direct() const { return group->in_node && (all || group->size() <= max_fan_in); }
    std::string text() const;
};

/// Whether an operation of the group takes the values of all to everyone: where everyone needs
/// them, where a scan would have to fold processes out of their order, and where the flags of a
/// waitvec are more than fit in a word.
bool takes_all(const Group& group, Op op);

/// Takes part in the round, once those before it have ended.
comm::Protocol<> drive(std::shared_ptr<Round> round,
                       std::vector<std::shared_ptr<comm::Call>> before);

/// Whether those who disagree do not even wait for each other alike.
bool groups_disagree(const Group& group, const Mismatch& mismatch);
/// @throws the error of those who disagree; for good, if they are parted.
[[noreturn]] void throw_mismatch(const Round& round, const Mismatch& mismatch);

/// Who disagrees with whom, by what each has said, in the group's order.
std::optional<Mismatch> mismatch_of(const Group& group, const std::vector<std::uint64_t>& headers);
/// The same of the last round in which all told each other everything.
std::optional<Mismatch> mismatch_of(const Group& group, const Header& mine);

// hierarchical.cpp

/// By leaders: for processes that share no memory, and for those that are many.
comm::Protocol<> hierarchical_round(Round& round);

}  // namespace hocket::team
