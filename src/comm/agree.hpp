// SPDX-License-Identifier: BSD-3-Clause
// How processes that make one collective call find out that they all mean the same, before any
// data moves: statements go up a binomial tree, the outcome comes down it. Nobody sends or
// receives more than 1 + ceil(log2 n) messages. A group whose processes share memory
// has a shorter way; what is agreed on, and what is wrong, is the same.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "comm/link.hpp"

namespace hocket::comm {

/// Merges two texts; that of lower members comes first.
using Merge = std::function<std::string(std::string, std::string)>;

/// Some processes of a link, in an order of their own, seen from one of them.
struct Group {
    Link* link = nullptr;
    std::vector<int> members;   // link ranks
    int index = 0;              // mine
    bool goes_in_node = false;  // agrees_by_mail, the same on all members

    int size() const { return static_cast<int>(members.size()); }
    bool lowest() const { return index == 0; }
    int rank_of(int member) const { return members[static_cast<std::size_t>(member)]; }
    static Group whole(Link& link);
    static Group own(Link& link);  ///< those of this process's job
};

/// Whether the members share memory, and are not so many that the lowest would be busy with the
/// others: then everyone's text goes to the lowest, and its to everyone, with one hand-off each.
/// Texts are named by the call's tag instead of by their order: a receive may wait for long while
/// later calls come and go.
bool agrees_by_mail(const Group& group);

/// An error as it travels: its class by name, and its message. No message: no error.
struct Fault {
    std::string kind;
    std::string message;

    explicit operator bool() const { return !message.empty(); }
    /// The fault that an exception is. Call in a catch block.
    static Fault current();
    [[noreturn]] void raise() const;
};

/// What one process says of a call: what is wrong with it here, or else what it is.
struct CallSignature {
    Fault fault;
    std::string text;
    /// Whatever the caller needs of the lowest member that has no fault; it survives the faults of
    /// others.
    std::string payload;
    /// After merging: every member has this very fault, so the call never was one. Else some
    /// members made a call that others did not.
    bool everywhere = false;
};

/// The members' texts, merged up the tree, on the lowest member (elsewhere empty).
Protocol<std::string> reduce(Group group, int tag, std::string mine, Merge merge);

/// The statements of all members, merged, on the lowest of them (elsewhere empty): a fault names
/// the process that it comes from (unless all have it); texts that differ are a MismatchError that
/// names both.
Protocol<CallSignature> collect(Group group, int tag, CallSignature mine);

/// The lowest member's text, on every member.
Protocol<std::string> broadcast(Group group, int tag, std::string text);

/// `collect`, then `broadcast`: the same outcome on every member. Gives what the lowest member with
/// a `payload` said there. @throws on every member the fault that any has; MismatchError where they
/// disagree.
Protocol<std::string> agree(Group group, int tag, CallSignature mine);

}  // namespace hocket::comm
