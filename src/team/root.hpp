// SPDX-License-Identifier: BSD-3-Clause
// State that all teams within a root team share.
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
struct Route;

/// A process that has left, and its words.
struct Departure {
    int process = 0;
    std::string words;
    comm::Fault broke = {};  // the error with which it has aborted the team, if it has
};

class Root : public std::enable_shared_from_this<Root> {
  public:
    /// Collective over the communicator. @throws Error on every process if one has not enough
    /// memory.
    static std::shared_ptr<Root> make(const Comm& comm, const Deadline& deadline);
    /// For tests: processes or threads of one node that already share these arenas.
    Root(int me, const std::vector<Arena>& arenas);
    ~Root();
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;

    int me() const { return me_; }
    int size() const { return size_; }
    comm::Link& link() { return *link_; }
    /// Precedes every message, because a later team may reuse the tags of a team that left messages
    /// behind.
    std::int64_t number() const { return number_; }
    int data_tag() const { return tags_; }
    int notice_tag() const { return tags_ + 1; }

    /// The team of these processes, which include this one.
    std::shared_ptr<const Group> group(const Mask& mask);
    std::shared_ptr<const Group> everyone();

    /// Takes part in a round: returns the values of all members, `words` words each, in order.
    /// Polls short rounds itself, and waits for longer ones in the one wait. `rest`: starts the
    /// remaining work of the operation if the wait ends early and the round goes on.
    void exchange(const std::shared_ptr<const Group>& group, const Header& header,
                  const std::uint64_t* value, std::size_t words, std::uint64_t* values,
                  const Deadline& deadline, const std::function<void()>& rest = {});
    /// A round whose values are folded on the way.
    std::uint64_t fold(const std::shared_ptr<const Group>& group, const Header& header,
                       std::uint64_t value, const Deadline& deadline);
    /// A scan, or a putget from member `source`, in which a process waits for the one whose value
    /// it takes, and for none else. All members share memory. Aborts the team if the calls differ.
    std::uint64_t pass(const std::shared_ptr<const Group>& group, const Header& header,
                       std::uint64_t value, std::size_t source, const Deadline& deadline);
    /// Its parts, without waits: the result, from the value that has come; and this process's value
    /// for those that take it.
    std::uint64_t receive(const Group& group, const Header& header, std::uint64_t value,
                          const Route& route);
    void publish(const Group& group, const Header& header, std::uint64_t value, const Route& route);
    /// Whether a process that this one awaits is in a round while this one passes, or the reverse.
    /// That is an error unless the awaited value has come since.
    bool out_of_order(int process, bool passes) const;
    shm::FlagStream& stream(const Group& group, std::size_t member) {
        return links_[static_cast<std::size_t>(group.process(member))].stream;
    }
    /// Starts a round, which executes after earlier rounds with two common processes.
    std::shared_ptr<comm::Call> start(const std::shared_ptr<Round>& round);

    /// Publishes this process's new state to all.
    void leave(MemberState state, const std::string& words);
    /// @throws Error if this process has left, or if the team was aborted.
    void require_whole() const {
        comm::require_not_ended();
        comm::require_no_fork();
        if (over_) over_->raise();
    }
    /// @throws the error of the differing calls. `groups_disagree`: also aborts the team, because
    ///         processes may wait for calls that never come.
    [[noreturn]] void throw_mismatch(const Mismatch& mismatch, bool groups_disagree);
    /// Aborts all teams within this root team, on this process and on those that observe its
    /// notice.
    [[noreturn]] void abort_team(const comm::Fault& fault);
    /// A process of the group that has aborted the team or left; prefers `awaited`. `direct`:
    /// except processes that have already published to this one.
    /// @throws Error if a process has ended all waits (Team::error).
    std::optional<Departure> absent(const Group& group, int awaited, bool direct);
    /// "rank 1", in MPI_COMM_WORLD; "" for a process of another host.
    std::string name_of(int process) const;

  private:
    struct MemberLink {
        std::optional<Arena> arena;             // if it shares memory with this process
        FlagPair flags;                         // flags in that arena
        shm::FlagStream stream;                 // streams in that arena
        MemberState state = MemberState::here;  // if it does not: as its notice says
        std::string words;
    };
    Root(int me, int size);
    friend comm::Protocol<> open(std::shared_ptr<Root> root, int tag);
    void add_member(int process, Arena arena);
    /// `complete`: all members have published equal headers. `published`: only this process has, so
    /// the round continues as a protocol. `nothing`: payloads of an earlier round, which ended
    /// because a process left, must arrive first.
    enum class TryResult { nothing, published, complete };
    TryResult try_exchange(const Group& group, std::uint64_t header, const std::uint64_t* value,
                           std::size_t words, std::uint64_t* values, std::size_t& observed);
    /// Lets other operations progress, even in a loop of very short rounds.
    void progress_sometimes();
    void poll_notices();
    MemberState state_of(int process, std::string& words);
    void finish(const std::shared_ptr<Round>& round, const Deadline& deadline,
                const std::function<void()>& rest = {});

    std::optional<Comm> comm_;  // keeps the link
    int me_, size_;
    std::unique_ptr<Arena> arena_;
    std::vector<int> in_node_;       // processes of this node
    std::size_t slot_ = 0;           // this process's index among them
    std::vector<int> node_;          // of each process, a number for its node
    std::vector<MemberLink> links_;  // by process
    comm::Link* link_ = nullptr;     // if there are several nodes
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
