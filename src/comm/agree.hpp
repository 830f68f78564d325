// SPDX-License-Identifier: BSD-3-Clause
// Agreement: processes that make one collective call verify that they make the same call, before
// any data moves. Statements go up a binomial tree, and the outcome comes down. No process sends or
// receives more than 1 + ceil(log2 n) messages. A group whose processes share memory uses a faster
// protocol with the same outcomes; two such processes exchange their statements.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/pack.hpp"
#include "comm/link.hpp"
#include "hocket/error.hpp"

namespace hocket::comm {

/// Merges two texts; that of lower members comes first.
using Merge = std::function<std::string(std::string, std::string)>;

/// Some processes of a link, in their own order, as one of them sees them.
struct Group {
    Link* link = nullptr;
    std::vector<int> members;   // link ranks
    int index = 0;              // this process's
    bool goes_in_node = false;  // agrees_in_node, the same on all members

    int size() const { return static_cast<int>(members.size()); }
    bool lowest() const { return index == 0; }
    int rank_of(int member) const { return members[static_cast<std::size_t>(member)]; }
    static Group whole(Link& link);
    static Group own(Link& link);  ///< those of this process's job
};

/// Whether the members share memory, and are few enough for the lowest to serve all: then each text
/// goes to the lowest directly, and its text to all. Tags name these texts, not their order,
/// because a receive may wait for long while later calls come and go.
bool agrees_in_node(const Group& group);

/// A MismatchError by which a stream leaves out what is lost; the next message goes on behind it.
class GapError : public MismatchError {
  public:
    using MismatchError::MismatchError;
    static constexpr const char* kind = "GapError";
};

/// An error in transit: the name of its class, and its message. No message: no error.
struct Fault {
    std::string kind;
    std::string message;

    explicit operator bool() const { return !message.empty(); }
    /// The fault for the current exception. Call in a catch block.
    static Fault current();
    [[noreturn]] void raise() const;
    void pack(Packer& out) const;
    static Fault unpacked(Unpacker& in);
};

/// One process's statement of a call: its error, or else its text.
struct CallSignature {
    Fault fault;
    std::string text;
    /// Data from the lowest member without a fault for all callers; it survives faults of other
    /// members.
    std::string payload;
    /// Values that this member offers; after merging, those that all members offer.
    std::vector<std::string> offer = {};
    /// After merging: every member has the same fault, so there was no call. Otherwise some members
    /// made a call that others did not.
    bool everywhere = false;
};

/// The message for two members' different texts; "" if both mean the same. Their names are as
/// "process 1 of 3".
using Disagreement = std::string (*)(const std::string& low, const std::string& low_name,
                                     const std::string& high, const std::string& high_name);

/// For texts that spell a call.
std::string calls_differ(const std::string& low, const std::string& low_name,
                         const std::string& high, const std::string& high_name);

/// The members' texts, merged up the tree, on the lowest member (elsewhere empty).
Protocol<std::string> reduce(Group group, int tag, std::string mine, Merge merge);

/// The statements of all members, merged, on the lowest of them (elsewhere empty). A fault names
/// its process (unless all have it); texts that differ give a MismatchError with a message by
/// `disagreement`, of the lowest two processes that differ in a subtree.
Protocol<CallSignature> collect(Group group, int tag, CallSignature mine,
                                Disagreement disagreement = calls_differ);

/// The lowest member's text, on every member.
Protocol<std::string> broadcast(Group group, int tag, std::string text);

/// `collect`, then `broadcast`: the same outcome on every member. Returns the payload of the lowest
/// member with a `payload`. @throws on every member any member's fault; MismatchError if they
/// disagree.
Protocol<std::string> agree(Group group, int tag, CallSignature mine,
                            Disagreement disagreement = calls_differ);

/// `agree`, but returns the payloads of all members, merged.
Protocol<std::string> merge_payloads(Group group, int tag, CallSignature mine, Merge merge);

/// `agree`, but returns the payloads of all members, one after the other.
Protocol<std::string> gather(Group group, int tag, CallSignature mine);

/// As an agreement, but a process that has failed ends the waits of the others at once. `ready` is
/// called until this process is ready or it throws, on the lowest until all are ready; from then on
/// `serve`, which others may need to become ready. Each process sends one text to the lowest, which
/// sends one to each. @throws the first fault, on all.
/// Invariant: after its text, a process finds no fault of its own, and it takes no text but those
/// awaited. So no process fails alone, and the texts of a later call with this tag are left to it.
Protocol<> agree_when_ready(const Group& group, int tag, const std::function<bool()>& ready,
                            const std::function<void()>& serve);

}  // namespace hocket::comm
