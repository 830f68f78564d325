// SPDX-License-Identifier: BSD-3-Clause
// Tasks: named groups of processes, each of which runs one data-parallel program. Tasks send whole
// distributed arrays to each other with MPI's verbs (Foster et al., "Double Standards: Bringing
// Task Parallelism to HPF via the Message Passing Interface"). Other tasks address a task as one
// rank.
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

/// A request for a task: the next `size` ranks of the communicator in order, or the listed ranks.
struct TaskRequest {
    std::string name;
    std::variant<std::int64_t, std::vector<int>> processes;
};

/// A task, by its index or its name.
using TaskId = std::variant<int, std::string>;

/// The message that a receive or a probe has found.
struct Status {
    int source;  ///< index of the sending task
    std::string source_name;
    int tag;
    Layout layout;  ///< the sender's
    DType dtype;
    /// The second and later arrays, if the message has several.
    struct Further {
        Layout layout;
        DType dtype;
    };
    std::vector<Further> further = {};
};

/// Options of a message: `{.tag = 3}`. Either side may set strategy, stages and pieces. If both
/// sides set one of them, the values must be equal.
struct MessageOptions {
    std::optional<int> tag = {};    ///< none: 0 for a send, any tag for a receive
    Deadline deadline = {};         ///< of the wait in send and recv
    std::string strategy = "auto";  ///< as for a plan; "auto": the sender's model chooses
    std::int64_t stages = 0;        ///< as for a plan; 0: not set
    /// The number of pieces of the array, which travel one after the other. The receiver can use a
    /// piece while later ones are under way (Request::wait_piece). 0: not set; 1 if neither side
    /// sets it.
    std::int64_t pieces = 0;
    /// Of isend and irecv: the call takes its position among the calls of the task now, and begins
    /// at the one call of Request::start. So the processes of a task may begin calls in different
    /// orders, as flows do. If the request is dropped before its start, the call fails on both
    /// sides.
    bool later = false;
};

struct SendrecvOptions {
    int send_tag = 0;
    int receive_tag = any_tag;
    Deadline deadline = {};
};

/// Options of a persistent request.
struct InitOptions {
    int tag = 0;
    /// The number of starts, if known. With 1, hocket prepares nothing.
    std::optional<std::int64_t> count = {};
    std::string strategy = "auto";  ///< as in MessageOptions
    std::int64_t stages = 0;
};

/// A piece of an array: indices first to last - 1 of one dimension.
struct ArrayPiece {
    std::int64_t dimension, first, last;
};

/// A started send or receive, or a persistent one. Request is a handle; dropping it does not stop
/// the operation.
class Request {
  public:
    Request() = default;
    /// Waits until the operation completes. Collective over the calling task. A deadline ends the
    /// wait, not the operation.
    /// A second wait returns the same. @throws the error of the operation; Error for an empty
    /// request.
    Status wait(Deadline deadline = {});
    /// Whether the operation is complete. Collective: all processes of the task get the answer of
    /// its lowest process.
    /// @throws as `wait`; PeerLostError if a program tests again and again after a process has
    ///         ended.
    bool test();
    /// Waits until this process's part of a piece has arrived (or may be changed, for a send), and
    /// returns the piece's indices. Local to the process. A transfer without pieces has one.
    /// @throws Error for a piece that does not exist; DeadlineError; the error of the operation.
    ArrayPiece wait_piece(std::int64_t piece, Deadline deadline = {});
    /// The number of pieces; waits until both sides have agreed on it. @throws as wait_piece.
    std::int64_t pieces(Deadline deadline = {});
    /// The message that a successful `test` has found. @throws Error before.
    Status status() const;
    bool empty() const { return pending_ == nullptr; }

    /// Starts a persistent request, or one that begins later (MessageOptions). Sends or receives
    /// the array of the request, or another of its layout and type. Local to the process, but every
    /// process of the task must start it. Does not allocate memory or make a plan. Within a node, a
    /// message of less than 32 KiB needs only flags, and the sender may change its array at once.
    /// @throws Error if the request is not persistent, was freed, or is under way, until a wait or
    ///         a test has seen its end; LayoutError or MismatchError for an array of another layout
    ///         or type; the error of an earlier start. Nothing starts then.
    void start();
    void start(const Array& array);
    /// Frees a persistent request. @throws Error if it is not persistent, was freed before, or is
    /// under way.
    void free();
    bool persistent() const;

    /// The operation itself, for a flow.
    std::shared_ptr<Operation> operation() const;

    explicit Request(std::shared_ptr<task::Pending> pending) : pending_(std::move(pending)) {}
    const std::shared_ptr<task::Pending>& pending() const { return pending_; }

  private:
    std::shared_ptr<task::Pending> pending_;
};

/// Waits for all requests. Collective over the task; the requests may be in any order, which is the
/// same on every process.
std::vector<Status> wait_all(std::span<Request> requests, Deadline deadline = {});
/// The index of a complete request; the same on every process of the task. @throws MismatchError if
/// this process passes another number of requests than the task's lowest process; DeadlineError.
std::size_t wait_any(std::span<Request> requests, Deadline deadline = {});

class Channel;

/// Of a channel. Both tasks give the same.
struct ChannelOptions {
    /// The sender numbers the frames of the channel, and keeps copies of the last `keep`. Between
    /// jobs that met by a port (hocket/port.hpp), each frame then arrives exactly once, also after
    /// either job was restarted or the line was cut. 0: none.
    std::int64_t keep = 0;
    /// With `keep`: the number of the last frame that this job has sent or received, as in Resume.
    std::optional<std::int64_t> last = {};
    /// If the sender is faster than the receiver: "block": a send waits until the
    /// receiver takes the array. "latest": a send never waits; if the receiver waits for no array,
    /// the sender keeps a copy, which the next send replaces, so that the receiver gets the newest
    /// array and, when the channel is closed, the last. "every N": the first of each N sends waits
    /// as with "block"; the others send nothing.
    std::string backpressure = "block";
};

/// All tasks, as one of this process's tasks sees them: that task calls the verbs. Every verb is
/// collective over that task and blocks all of its processes or none. Tasks is a handle.
class Tasks {
  public:
    /// Divides `comm` into tasks. Collective over `comm`. @throws MismatchError, LayoutError or
    /// Error on every process, for counts that do not sum to the communicator's size, ranks in no
    /// task, names that are empty or repeat, and requests that differ between processes.
    Tasks(std::span<const TaskRequest> requests, const Comm& comm);
    /// The tasks that the launcher (`hocket run`) has set: HOCKET_TASKS="rows=2,cols=2".
    /// @throws Error if the launcher has set none.
    static Tasks from_launcher(const Comm& comm);

    const std::optional<std::string>& name() const;  ///< the name of this process's task; none if
                                                     ///< it is in several
    int rank() const;                                ///< the index of this process's task. @throws
                                                     ///< Error if it is in several
    int size() const;                                ///< number of tasks
    const std::vector<std::string>& names() const;
    Comm comm() const;  ///< the processes of this process's task. @throws Error if it is in several
    /// The tasks as `id`, one of this process's tasks, sees them. @throws Error if this process is
    /// not in it, or it does not exist.
    Tasks task(const TaskId& id) const;

    /// Blocks until the program may change the array again. @throws MismatchError on every process
    /// of both tasks, naming both values, if shape or dtype differ: no element has moved then.
    void send(const Array& array, const TaskId& destination, const MessageOptions& options = {});
    Status recv(const Array& array, const TaskId& source = any_source,
                const MessageOptions& options = {});
    Request isend(const Array& array, const TaskId& destination,
                  const MessageOptions& options = default_options<MessageOptions>);
    Request irecv(const Array& array, const TaskId& source = any_source,
                  const MessageOptions& options = default_options<MessageOptions>);
    Status sendrecv(const Array& sent, const TaskId& destination, const Array& received,
                    const TaskId& source, const SendrecvOptions& options = {});

    /// Sends or receives several arrays as one message: one description, one match, then the data
    /// of each, in their order. The other side passes as many arrays. A list of one array equals
    /// that array alone.
    /// @throws as for one array, naming the position; Error for an empty list.
    void send(std::span<const Array> arrays, const TaskId& destination,
              const MessageOptions& options = {});
    Status recv(std::span<const Array> arrays, const TaskId& source = any_source,
                const MessageOptions& options = {});
    Request isend(std::span<const Array> arrays, const TaskId& destination,
                  const MessageOptions& options = default_options<MessageOptions>);
    Request irecv(std::span<const Array> arrays, const TaskId& source = any_source,
                  const MessageOptions& options = default_options<MessageOptions>);
    Status sendrecv(std::span<const Array> sent, const TaskId& destination,
                    std::span<const Array> received, const TaskId& source,
                    const SendrecvOptions& options = {});

    /// Prepares a send that Request::start repeats, of this array, or of any other with its layout
    /// and type. Collective over the task; returns at once. The start or the wait throws errors
    /// that the two sides find. A persistent send matches persistent receives only, in the order of
    /// these calls, for each pair of tasks and each tag.
    Request send_init(const Array& array, const TaskId& destination,
                      const InitOptions& options = {});
    /// For any array of this layout; the first array sets the type.
    Request send_init(const Layout& layout, const TaskId& destination,
                      const InitOptions& options = {});
    Request recv_init(const Array& array, const TaskId& source, const InitOptions& options = {});
    Request recv_init(const Layout& layout, const TaskId& source, const InitOptions& options = {});

    /// A named stream of arrays between this task and another, separate from all other messages.
    /// Local. @throws Error for an unknown task, an empty name, wrong options, and a task that
    /// shares a process with this one, because the calls of a channel block both tasks.
    Channel channel(const std::string& name, const TaskId& other,
                    const ChannelOptions& options = {}) const;

    /// Describes the message that the next matching receive would find.
    Status probe(const TaskId& source = any_source, int tag = any_tag, Deadline deadline = {});
    /// The deadline limits the wait for the task's other processes, not for a message.
    std::optional<Status> iprobe(const TaskId& source = any_source, int tag = any_tag,
                                 Deadline deadline = {});

    /// Collective calls between tasks: every process of every task makes them, in the same order.
    /// Each task passes an array of the same shape and type, in any layout. No process may be in
    /// two tasks. After a deadline the tasks are out of step, and later calls between them throw.
    /// @throws on every process of all tasks: MismatchError if tasks make different calls, or pass
    /// arrays that do not match (names two of them); any error of one process.

    /// Copies the root's array to all tasks.
    void bcast(const Array& array, const TaskId& root, Deadline deadline = {});
    /// Combines the arrays element by element into `result`, which only the root reads. `op`: "add"
    /// "mul" "min" "max"; for integers and bool also "and" "or" (bitwise). Integers wrap, NaN wins
    /// in min and max, bool adds as or and multiplies as and. hocket combines elements in the order
    /// of tasks, so the result has the same bits for all layouts.
    void reduce(const Array& array, const Array* result, const std::string& op, const TaskId& root,
                Deadline deadline = {});
    /// Combines the arrays into the `result` of every task, in any layout. All tasks get the same
    /// bits.
    void allreduce(const Array& array, const Array& result, const std::string& op,
                   Deadline deadline = {});
    /// Copies each task's array, of any shape and type, into the root's `results`, one a task. Only
    /// the root reads `results`.
    void gather(const Array& array, std::span<const Array> results, const TaskId& root,
                Deadline deadline = {});
    /// Waits until all processes of all tasks have called it.
    void barrier(Deadline deadline = {});

    /// The seconds that this process has spent in the six steps of all its transfers so far.
    Profile profile() const;
    struct State;

  private:
    friend struct Binding;
    Tasks(std::shared_ptr<State> state, std::shared_ptr<task::Member> speaker);
    task::Member& speaker(const char* verb) const;
    Request start_send(std::span<const Array> arrays, const TaskId& destination,
                       const task::Verb& verb, const MessageOptions& options, comm::Fault fault);
    Request start_receive(std::span<const Array> arrays, const TaskId& source,
                          const task::Verb& verb, const MessageOptions& options, comm::Fault fault);
    Request init(bool sending, const Array* array, const Layout& layout, const TaskId& other,
                 const InitOptions& options);
    void init_persistent(bool sending, const TaskId& other, int tag, const comm::Fault& fault);
    void collective(task::Collective call, const TaskId* root, const char* verb,
                    const Deadline& deadline);
    std::optional<Status> look(const TaskId& source, int tag, const task::Verb& verb,
                               const Deadline& deadline, comm::Fault fault);
    // They change when jobs have met again.
    mutable handle::Shared<State, "Tasks"> state_;
    mutable std::shared_ptr<task::Member> speaker_;  // none if this process is in several tasks
};

/// A stream of arrays between two tasks: one receives, in order, the arrays that the other sends,
/// until the sender closes the channel (Fortran M's channels, as in Figure 3 of Foster, Kohr,
/// Krishnaiyer and Choudhary, "A Data Transfer Library for Communicating Data-Parallel Tasks").
/// Each direction is a separate stream. The calls are collective over the task. Channel is a
/// handle.
class Channel {
  public:
    /// As Tasks::send. @throws Error also after this task has closed the channel.
    void send(const Array& array, Deadline deadline = {});
    /// As Tasks::recv. @throws EndOfStream, from then on, once the sender has closed the channel
    /// and this task has received all arrays.
    Status recv(const Array& array, Deadline deadline = {});
    /// Ends the stream that this task sends. @throws Error the second time.
    void close(Deadline deadline = {});
    const std::string& name() const;
    /// With `keep`: the number of the last frame that this task has sent, and of the last that it
    /// has received; 0: none. They are the values for `resume`.
    std::int64_t sent() const;
    std::int64_t received() const;

  private:
    friend class Tasks;
    friend struct Binding;
    struct State;
    explicit Channel(std::shared_ptr<State> state) : state_(std::move(state)) {}
    handle::Shared<State, "Channel"> state_;
};

}  // namespace hocket
