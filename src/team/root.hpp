// SPDX-License-Identifier: BSD-3-Clause
// What the processes of a root team, and all teams within it, have in common.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "comm/fork.hpp"
#include "comm/state.hpp"
#include "hocket/team.hpp"
#include "team/arena.hpp"
#include "team/call.hpp"
#include "team/group.hpp"

namespace hocket::team {

struct Round;

/// A process that is not there any more, as it said.
struct Departure {
    int process = 0;
    std::string words;
    comm::Fault broke = {};  // with which it has broken the team, if it has
};

class Root : public std::enable_shared_from_this<Root> {
  public:
    /// Collective over the communicator. @throws Error on every process where one has no memory.
    static std::shared_ptr<Root> make(const Comm& comm, const Deadline& deadline);
    /// For processes, or threads that stand for them, that share these pieces of memory already:
    /// one of each, and all of one node.
    Root(int me, const std::vector<Arena>& arenas);
    ~Root();
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;

    int me() const { return me_; }
    int size() const { return size_; }
    comm::Link& link() { return *link_; }
    /// Leads every message, since a later team may get the tags of one that has left some behind.
    std::int64_t number() const { return number_; }
    int data_tag() const { return tags_; }
    int notice_tag() const { return tags_ + 1; }

    /// The team of these processes, of which this one is one.
    std::shared_ptr<const Group> group(const Mask& mask);
    std::shared_ptr<const Group> everyone();

    /// Takes part in a round: the values of all, `words` of each, in the members' order. Short
    /// waits are spent here, longer ones in the one wait. `rest`: starts what else belongs to the
    /// operation, where the wait ends early and the round goes on.
    void exchange(const std::shared_ptr<const Group>& group, const Header& header,
                  const std::uint64_t* value, std::size_t words, std::uint64_t* values,
                  const Deadline& deadline, const std::function<void()>& rest = {});
    /// A round of a value that is folded on the way.
    std::uint64_t fold(const std::shared_ptr<const Group>& group, const Header& header,
                       std::uint64_t value, const Deadline& deadline);
    /// A round that goes on by itself, after those under way with the same processes.
    std::shared_ptr<comm::Call> start(const std::shared_ptr<Round>& round);

    /// How I am, from now on: said to all.
    void leave(MemberState state, const std::string& words);
    /// @throws Error if I have left, or nobody knows any more who waits for whom.
    void require_whole() const {
        comm::require_not_ended();
        comm::require_no_fork();
        if (over_) over_->raise();
    }
    /// @throws the error of those who disagree. `groups_disagree`: nobody knows who waits for whom
    /// now.
    [[noreturn]] void throw_mismatch(const Mismatch& mismatch, bool groups_disagree);
    /// From here on no team within this one can be used, by those who hear of it.
    [[noreturn]] void abort_team(const comm::Fault& fault);
    /// A process of the group that has broken the team, or else has left; `awaited`, if that one
    /// has. `direct`: not one that has told everyone what this round needs of it.
    /// @throws Error where no wait is of use any more.
    std::optional<Departure> absent(const Group& group, int awaited, bool direct);

  private:
    struct MemberLink {
        std::optional<Arena> arena;             // of one that shares memory with me
        FlagPair flags;                         // with it; else none
        MemberState state = MemberState::here;  // of one that does not, as it told me
        std::string words;
    };
    Root(int me, int size);
    friend comm::Protocol<> open(std::shared_ptr<Root> root, int tag);
    void meet(int process, Arena arena);
    /// `all`: everyone has spoken, and agrees. `nothing`: a round that somebody left has words to
    /// come yet, which must be heard first.
    enum class Heard { nothing, mine, all };
    Heard try_exchange(const Group& group, std::uint64_t header, const std::uint64_t* value,
                       std::size_t words, std::uint64_t* values, std::size_t& observed);
    void poll_notices();
    MemberState state_of(int process, std::string& words);
    void finish(const std::shared_ptr<Round>& round, const Deadline& deadline,
                const std::function<void()>& rest = {});

    std::optional<Comm> comm_;  // keeps the link
    int me_, size_;
    std::unique_ptr<Arena> arena_;
    std::vector<int> in_node_;       // those who share memory with me, and I
    std::size_t slot_ = 0;           // where I am among them
    std::vector<int> node_;          // of each process, a number for what memory it shares
    std::vector<MemberLink> links_;  // by process
    comm::Link* link_ = nullptr;     // where some share no memory
    int tags_ = 0;
    std::optional<comm::Driven<comm::TextMessage>> notice_receive_;
    Groups groups_;
    struct PendingRound {
        std::shared_ptr<const Group> group;
        std::shared_ptr<comm::Call> call;
    };
    std::vector<PendingRound> pending_rounds_;
    std::optional<comm::Fault> over_;
    unsigned rounds_ = 0;
    std::int64_t number_ = 0;
};

}  // namespace hocket::team
