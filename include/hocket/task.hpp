// SPDX-License-Identifier: BSD-3-Clause
// Tasks: named groups of processes, each one data-parallel program, which send whole distributed
// arrays to each other with MPI's verbs (Foster et al., "Double Standards: Bringing Task
// Parallelism to HPF via the Message Passing Interface"). To other tasks a task is one rank.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/operation.hpp"
#include "hocket/transfer.hpp"

namespace hocket {

namespace comm {
struct Fault;  // src/comm/agree.hpp
}

namespace task {
struct Member;      // this process in one task; src/task/member.hpp
struct Pending;     // a call under way; src/task/exchange.hpp
struct Collective;  // a call of all tasks; src/task/collectives.hpp
struct Verb;        // src/task/verb.hpp
}  // namespace task

inline constexpr int any_source = -1;
inline constexpr int any_tag = -1;

/// A task as it is asked for: the next `size` ranks of the communicator in order, or these ranks.
struct TaskRequest {
    std::string name;
    std::variant<std::int64_t, std::vector<int>> processes;
};

/// Which task is meant: its index or its name.
using TaskId = std::variant<int, std::string>;

/// What a receive or a probe found.
struct Status {
    int source;  ///< index of the sending task
    std::string source_name;
    int tag;
    Layout layout;  ///< the sender's
    DType dtype;
    /// Of the second array on, where the message has several.
    struct Further {
        Layout layout;
        DType dtype;
    };
    std::vector<Further> further = {};
};

/// How a message is sent or received: `{.tag = 3}`. Of strategy, stages and pieces, what one side
/// leaves open the other says; where both say something, it must be the same.
struct MessageOptions {
    std::optional<int> tag = {};    ///< none: 0 of what is sent, any of what is received
    Deadline deadline = {};         ///< of send and recv: of their wait
    std::string strategy = "auto";  ///< as for a plan; "auto": what the sender's model chooses
    std::int64_t stages = 0;        ///< as for a plan; 0: open
    /// The array travels in so many pieces, one after the other, so that early ones can be used
    /// while later ones are under way (Request::wait_piece); 0: open, and one if nobody says.
    std::int64_t pieces = 0;
    /// Of isend and irecv: the call takes its place among the calls of the task now, and begins
    /// when its request is started (Request::start), once. So the processes of a task may begin
    /// calls in different orders, as flows do. Given up before that, it fails on both sides.
    bool later = false;
};

struct SendrecvOptions {
    int send_tag = 0;
    int receive_tag = any_tag;
    Deadline deadline = {};
};

/// How a persistent request is to be prepared.
struct InitOptions {
    int tag = 0;
    /// How often it will be started, as far as that is known: 1 says that preparing does not pay.
    std::optional<std::int64_t> count = {};
    std::string strategy = "auto";  ///< as in MessageOptions
    std::int64_t stages = 0;
};

/// A piece of an array: indices [first, last) of one dimension.
struct ArrayPiece {
    std::int64_t dimension, first, last;
};

/// A send or a receive that was started, or one that can be started again and again. A handle;
/// dropping it does not stop the operation.
class Request {
  public:
    Request() = default;
    /// Collective over the calling task. A deadline ends the wait, not the operation.
    /// @throws what the operation threw; Error for a request that is empty or was waited for.
    Status wait(Deadline deadline = {});
    /// Collective: true on all processes of the task or on none, as its lowest process finds it.
    /// @throws as `wait`; PeerLostError where it is asked again and again.
    bool test();
    /// Waits until this process's part of a piece has come (or may be changed, of a send), and
    /// tells which it is. Local to the process. A transfer that is not in pieces has one.
    /// @throws Error for a piece that there is not; DeadlineError; what the operation threw.
    ArrayPiece wait_piece(std::int64_t piece, Deadline deadline = {});
    /// How many there are; waits until both sides have agreed on it. @throws likewise.
    std::int64_t pieces(Deadline deadline = {});
    /// What a successful `test` found. @throws Error before.
    Status status() const;
    bool empty() const { return pending_ == nullptr; }

    /// Persistent requests, and those that begin later (MessageOptions): sends or receives the
    /// array that the request was made with, or another of its layout and type. Local to the
    /// process, but every process of the task must start it. Allocates and plans nothing; within a
    /// node a message of less than 32 KiB costs flags, no messages, and is gone from a sender's
    /// array at once.
    /// @throws Error if the request is not persistent, was freed, or is under way; LayoutError,
    ///         MismatchError for an array of another layout or type; and what an earlier start
    ///         threw. Nothing is started then.
    void start();
    void start(const Array& array);
    /// Ends a persistent request. @throws Error if it is not one, was freed before, or is under
    /// way.
    void free();
    bool persistent() const;

    /// For a flow: the operation itself.
    std::shared_ptr<Operation> operation() const;

    explicit Request(std::shared_ptr<task::Pending> pending) : pending_(std::move(pending)) {}
    const std::shared_ptr<task::Pending>& pending() const { return pending_; }

  private:
    std::shared_ptr<task::Pending> pending_;
};

/// Collective over the task; any order of the requests, the same on every process.
std::vector<Status> wait_all(std::span<Request> requests, Deadline deadline = {});
/// The index of a request that is done; the same on every process of the task. @throws
/// MismatchError where this process gives another number of them than the task's lowest one;
/// DeadlineError.
std::size_t wait_any(std::span<Request> requests, Deadline deadline = {});

class Channel;

/// All tasks, seen from one of those that this process is in, in whose name it speaks. Every verb
/// is collective over that task and blocks all of it or none. A handle.
class Tasks {
  public:
    /// Collective over `comm`. @throws MismatchError, LayoutError or Error on every process, for
    /// counts that do not sum to the communicator's size, ranks that are in no task, names that
    /// are empty or repeat, and requests that differ between processes.
    Tasks(std::span<const TaskRequest> requests, const Comm& comm);
    /// As the launcher says (`hocket run`): HOCKET_TASKS="rows=2,cols=2".
    /// @throws Error if the launcher says nothing.
    static Tasks from_launcher(const Comm& comm);

    const std::optional<std::string>& name() const;  ///< of my task; none while I am in several
    int rank() const;                                ///< index of my task. @throws Error likewise
    int size() const;                                ///< number of tasks
    const std::vector<std::string>& names() const;
    Comm comm() const;  ///< my task's processes. @throws Error likewise
    /// The view of one of my tasks. @throws Error if I am not in it, or it does not exist.
    Tasks task(const TaskId& id) const;

    /// Blocks until the array may be changed again. @throws MismatchError on every process of both
    /// tasks, naming both, if shape or dtype differ: nothing has moved then.
    void send(const Array& array, const TaskId& destination, const MessageOptions& options = {});
    Status recv(const Array& array, const TaskId& source = any_source,
                const MessageOptions& options = {});
    Request isend(const Array& array, const TaskId& destination,
                  const MessageOptions& options = {});
    Request irecv(const Array& array, const TaskId& source = any_source,
                  const MessageOptions& options = {});
    Status sendrecv(const Array& sent, const TaskId& destination, const Array& received,
                    const TaskId& source, const SendrecvOptions& options = {});

    /// Several arrays as one message: one description, one match, then the data of each, in their
    /// order. They meet a receive of as many arrays; one in a list is the same as one alone.
    /// @throws as for one array, naming the position; Error for no array at all.
    void send(std::span<const Array> arrays, const TaskId& destination,
              const MessageOptions& options = {});
    Status recv(std::span<const Array> arrays, const TaskId& source = any_source,
                const MessageOptions& options = {});
    Request isend(std::span<const Array> arrays, const TaskId& destination,
                  const MessageOptions& options = {});
    Request irecv(std::span<const Array> arrays, const TaskId& source = any_source,
                  const MessageOptions& options = {});
    Status sendrecv(std::span<const Array> sent, const TaskId& destination,
                    std::span<const Array> received, const TaskId& source,
                    const SendrecvOptions& options = {});

    /// Prepares a send that is started again and again (Request::start): of this array, or any
    /// other of its layout and type. Collective over the task; returns at once, and errors that the
    /// two sides find are thrown when it is started or waited for. A persistent send meets
    /// persistent receives only, in the order in which both are made, per pair and tag.
    Request send_init(const Array& array, const TaskId& destination,
                      const InitOptions& options = {});
    /// Of any array of this layout; the first one settles the type.
    Request send_init(const Layout& layout, const TaskId& destination,
                      const InitOptions& options = {});
    Request recv_init(const Array& array, const TaskId& source, const InitOptions& options = {});
    Request recv_init(const Layout& layout, const TaskId& source, const InitOptions& options = {});

    /// A named stream of arrays between this task and another, apart from all other messages.
    /// Local. @throws Error for a task that does not exist, or that shares a process with this one,
    /// since its calls block both; and for an empty name.
    Channel channel(const std::string& name, const TaskId& other) const;

    /// What the next matching receive would find.
    Status probe(const TaskId& source = any_source, int tag = any_tag, Deadline deadline = {});
    std::optional<Status> iprobe(const TaskId& source = any_source, int tag = any_tag);

    /// Collective calls between tasks: every process of every task makes them, in the same order.
    /// Each task brings an array of one shape and type, laid out as it likes. No process may be in
    /// two tasks. A deadline that passes leaves the tasks out of step: later calls between them
    /// throw. @throws on every process of all tasks: MismatchError naming two, where tasks make
    /// different calls, or bring what does not fit; and what is wrong on any process.

    /// The root's array, to all.
    void bcast(const Array& array, const TaskId& root, Deadline deadline = {});
    /// The arrays combined element by element, into `result`, which is read on the root only.
    /// `op`: "add" "mul" "min" "max", of integers and bool also "and" "or" (of bits). Integers
    /// wrap, NaN wins in min and max, bool adds as or and multiplies as and. Elements are combined
    /// in the order of tasks, so that a result has the same bits whatever the layouts.
    void reduce(const Array& array, const Array* result, const std::string& op, const TaskId& root,
                Deadline deadline = {});
    /// The same, into every task's `result`, laid out as each likes: the same bits everywhere.
    void allreduce(const Array& array, const Array& result, const std::string& op,
                   Deadline deadline = {});
    /// Each task's array, of any shape and type, into the root's `results`, one a task (read on the
    /// root only).
    void gather(const Array& array, std::span<const Array> results, const TaskId& root,
                Deadline deadline = {});
    /// Until all processes of all tasks are here.
    void barrier(Deadline deadline = {});

    /// Seconds that this process has spent in the six steps of all its transfers so far.
    Profile profile() const;
    struct State;
    Tasks(std::shared_ptr<State> state, std::shared_ptr<task::Member> speaker);

  private:
    friend struct Binding;
    task::Member& speaker(const char* verb) const;
    Request start_send(std::span<const Array> arrays, const TaskId& destination,
                       const task::Verb& verb, const MessageOptions& options, comm::Fault fault);
    Request start_receive(std::span<const Array> arrays, const TaskId& source,
                          const task::Verb& verb, const MessageOptions& options, comm::Fault fault);
    Request init(bool sending, const Array* array, const Layout& layout, const TaskId& other,
                 const InitOptions& options);
    void init_persistent(bool sending, const comm::Fault& fault);
    void collective(task::Collective call, const TaskId* root, const char* verb,
                    const Deadline& deadline);
    std::optional<Status> look(const TaskId& source, int tag, const task::Verb& verb,
                               const Deadline& deadline, comm::Fault fault);
    std::shared_ptr<State> state_;
    std::shared_ptr<task::Member> speaker_;  // none while I am in several tasks
};

/// A stream of arrays between two tasks: what one sends, the other receives in order, until the
/// sender closes (Fortran M's channels, as in Figure 3 of Foster, Kohr, Krishnaiyer and Choudhary,
/// "A Data Transfer Library for Communicating Data-Parallel Tasks"). Each direction is a stream of
/// its own. Its calls are collective over the task. A handle.
class Channel {
  public:
    /// As Tasks::send. @throws also Error once this task has closed the channel.
    void send(const Array& array, Deadline deadline = {});
    /// As Tasks::recv. @throws EndOfStream, now and ever after, once the sender has closed it and
    /// all that it sent before was received.
    Status recv(const Array& array, Deadline deadline = {});
    /// Ends the stream that this task sends. @throws Error the second time.
    void close(Deadline deadline = {});
    const std::string& name() const;

  private:
    friend class Tasks;
    friend struct Binding;
    struct State;
    explicit Channel(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

}  // namespace hocket
