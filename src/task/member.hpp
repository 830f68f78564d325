// SPDX-License-Identifier: BSD-3-Clause
// All tasks, and this process as a member of one of them.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "comm/agree.hpp"
#include "comm/closing.hpp"
#include "comm/link.hpp"
#include "comm/texts.hpp"
#include "hocket/task.hpp"
#include "task/matcher.hpp"

namespace hocket {
namespace task {
class KeptChannel;
class Tags;
}  // namespace task

struct Tasks::State {
    Comm comm;  // the user's, with the processes of all tasks
    comm::OwnedLink link;
    std::vector<std::string> names = {};
    std::vector<std::vector<int>> ranks = {};  // of each task, in its order
    std::map<int, std::shared_ptr<task::Member>> mine = {};
    std::shared_ptr<Profile> profile = std::make_shared<Profile>();
    std::int64_t collectives = 0;  // collective calls between all tasks so far
    /// For jobs that may meet again: the tasks of both, anew. `why`: the loss. Collective over this
    /// process's job. @throws on every process: PeerLostError if the other job does not come back
    /// in time; DeadlineError.
    std::function<std::shared_ptr<State>(const std::string& why, const Deadline& deadline)>
        meet_again = nullptr;
    // The tasks of the next meeting, the last frames that this job has of its channels, and the
    // channels that follow.
    std::shared_ptr<State> next = nullptr;
    std::map<std::string, std::int64_t> resume = {};
    std::vector<std::weak_ptr<task::KeptChannel>> channels = {};

    /// The tasks as `speaker` sees them.
    static Tasks seen_by(const std::shared_ptr<State>& all,
                         const std::shared_ptr<task::Member>& speaker) {
        return {all, speaker};
    }
    /// This process is in the task, which has this communicator.
    void add_member(int task, Comm of_task, const task::Tags& tags);
    /// @throws Error for a task that does not exist; suggests the closest name.
    int index(const TaskId& id) const;
    int find(const TaskId& id) const;  ///< as index; -1 for a task that does not exist
    bool share_process(int a, int b) const;
    /// For a verb that blocks until both tasks have acted.
    /// @throws Error if they share a process; the message names an alternative.
    void require_apart(int a, int b, const std::string& verb, const std::string& instead) const;
    /// Task `receiver` waits for a message from that task's lowest process, or (-1) from any.
    void need_sender(int receiver, int source) const;
};

namespace task {

// Every protocol between tasks uses these types.
using All = std::shared_ptr<Tasks::State>;
using Me = std::shared_ptr<Member>;
using comm::Fault;
using comm::Protocol;

/// A schedule for the set-up of tasks, so that disjoint tasks are set up at once. In each round a
/// process has one task or -1; there are no more rounds than overlapping tasks require. `ranks`: of
/// each task, below `size`.
std::vector<std::vector<int>> rounds(const std::vector<std::vector<int>>& ranks, int size);

/// Tags on the link of all tasks. Each task and purpose has a window of tags, used in turn. A call
/// may be under way while others come and go, so the windows are as wide as they can be: some ten
/// million tags for five tasks, if MPI has them.
class Tags {
  public:
    Tags() = default;
    /// @throws Error if there are more tasks than tags.
    Tags(int tasks, int highest_tag);
    int envelope(int destination) const { return destination; }
    int tree(int task, std::int64_t call) const { return at(0, task, call % (window_ - 1)); }
    /// For decisions of the lowest process, which end in the order in which they begin: a program
    /// may test a request a million times while calls with tags of the window go on.
    int decision(int task) const { return at(0, task, window_ - 1); }
    int reply(int source, std::int64_t send) const { return at(1, source, send); }
    int data(int source, std::int64_t send) const { return at(2, source, send); }
    /// For a persistent request, for its whole life.
    int persistent_id(int source, std::int64_t request) const { return at(3, source, request); }
    /// For messages that processes of the sending task, or of the receiving one, relay to each
    /// other during a transfer: tasks may share processes.
    int among(Side side, int source, std::int64_t send) const {
        return at(side == Side::source ? 4 : 5, source, send);
    }
    int persistent_among(Side side, int source, std::int64_t request) const {
        return at(side == Side::source ? 6 : 7, source, request);
    }
    /// For a collective call between all tasks: its agreement, and its data.
    int meeting_of_all(std::int64_t call) const { return at(8, 0, call); }
    int data_of_all(std::int64_t call) const { return at(9, 0, call); }
    /// For texts of that task about channels with kept frames.
    int news(int source) const { return tasks_ + source; }
    static constexpr int purposes = 10;

  private:
    int at(int purpose, int task, std::int64_t number) const {
        return tasks_ * (2 + purpose * window_) + task * window_ +
               static_cast<int>(number % window_);
    }
    int tasks_ = 1, window_ = 1;
};

/// News from the other task about one stream, which the lowest process has.
struct StreamNews {
    std::optional<std::int64_t> position;  // -1: any; -2: any, as before
    std::int64_t acknowledged = 0;         // of "latest": asked for
    // By this task, of "latest": the arrays that it has asked for, and those that it has sent.
    std::int64_t asked = 0, delivered = 0;
    // Channels of this stream that this task has made. Of kept frames: the last that the other task
    // has announced; one that this task has declined counts as made.
    std::int64_t made = 0, announced = 0;
    std::int64_t refused = 0;  // the last channel that the other task has made of another kind
};

/// This process in one task.
struct Member {
    explicit Member(Comm of_task) : comm(std::move(of_task)) {}

    Comm comm;  // of the task, for the program's use
    Tasks::State* all = nullptr;
    int task = 0;
    comm::Group group;
    Tags tags;
    std::int64_t calls = 0;          // collective calls of the task so far
    std::int64_t persistent_id = 0;  // persistent sends of the task so far
    // Sends and receives of the task so far, which are the next call's ticket. On the lowest
    // process: the tickets whose turn it is, because calls pass the matcher in their order.
    std::int64_t sends = 0, receives = 0, next_send = 0, next_receive = 0;
    Matcher matcher;  // on the lowest process
    // Layouts in this task's envelopes, and in replies to these, by the other task; those in the
    // outcomes of calls of this task.
    std::vector<KnownLayouts> sent, replied;
    KnownLayouts outcomes;
    // On the lowest process, by the other task: the bytes of elements in envelopes without reply.
    std::map<int, std::int64_t> early_bytes;
    // Other tasks, and keys of this task's layouts, from which their arrays differed last.
    std::set<std::pair<int, std::string>> differing;
    std::map<int, std::string> broken;  // other task -> the reason why the pair is broken
    std::optional<std::string> shown_name;
    // By task and stream.
    std::map<std::pair<int, std::string>, StreamNews> news;
    std::map<int, comm::Texts> news_texts;  // by task
    bool keeps_frames = false;              // it has made a channel that does
    bool refuses_channels = false;          // it has refused one
    void receive_news(int other);
    /// Whether this channel has had the error of `fault_in_kind`.
    bool has_refused(int other, const std::string& stream, std::int64_t channel) const {
        return refuses_channels && news.at({other, stream}).refused >= channel;
    }
    /// The error if the other task's channel of that name is of the other kind: one keeps frames,
    /// and the other does not. Receives news. `channel`: its number in its stream.
    Fault fault_in_kind(int other, const std::string& stream, std::int64_t channel);
    std::list<comm::Driven<void>> departures;  // notices under way

    /// @throws Error if an earlier deadline has broken the pair with that task.
    void require_intact(int other, const std::string& verb) const;
    /// A blocking call with that task has ended before its operation: from now on neither of the
    /// two sends to the other. Notifies the other task.
    void break_pair(int other, const std::string& why);
    const std::string& name() const { return all->names[static_cast<std::size_t>(task)]; }
    int lowest_of(int other) const { return all->ranks[static_cast<std::size_t>(other)][0]; }
    /// For errors of deadlines: "; process 0 of 'viewer' was last heard 12 s ago"; "" for any task
    /// (negative), and for a task of this job.
    std::string silence_text(int other) const {
        return other < 0 ? "" : all->link->silence_text(lowest_of(other));
    }
};

}  // namespace task
}  // namespace hocket
