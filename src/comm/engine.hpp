// SPDX-License-Identifier: BSD-3-Clause
// The engine: all operations of this process, and the rules for driving them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "hocket/operation.hpp"

namespace hocket::comm {

class Engine {
  public:
    static Engine& instance();

    /// Polls this operation in every wait of the process until it completes or fails (its owner
    /// gets the error from its own poll).
    void add(std::shared_ptr<Operation> operation);
    /// As `add`, from the next turn on; for callers that cannot take a turn, as destructors under a
    /// lock for which the holder of the turn waits.
    void post(std::shared_ptr<Operation> operation);
    /// As `post`, for operations that no wait needs: each turn polls one of them.
    void post_background(std::shared_ptr<Operation> operation);
    /// Polls it once: now, if this thread can get the turn without a wait, else as
    /// `post_background`. For resources that destructors free, on any thread.
    void soon(std::shared_ptr<Operation> operation);
    /// Removes an operation whose owner has seen its end: an operation that is started often would
    /// otherwise be here many times.
    void remove(const Operation& operation);
    /// Polls all operations once. The caller holds the turn.
    void progress();
    /// The number of calls of `progress`, and of `count_poll` by loops that poll one operation
    /// only.
    std::uint64_t polls() const { return polls_; }
    void count_poll() { ++polls_; }
    /// Lets MPI send what it has taken. MPI need not do so outside of its calls (MPI 4.1, section
    /// 3.7.4, weak progress), and a wait may need shared memory only: a message that waits for its
    /// connection would never leave. The caller holds the turn.
    void progress_mpi();
    /// The names of processes of any host that have ended, if MPI reports such; else "". The caller
    /// holds the turn.
    std::string lost_processes();
    /// Both, for calls that do not wait; MPI only now and then.
    void progress_once();

    /// As `progress`; returns false if another thread holds the turn, or if this one may not
    /// communicate.
    bool try_progress();
    /// False if MPI was initialised below MPI_THREAD_SERIALIZED.
    bool several_threads_may_communicate();
    /// `more` flows have threads from now on (fewer, if negative). These threads take turns, so
    /// none of them counts as a second thread that the program uses by mistake.
    void expect_threads(int more) { flows_ += more; }

    /// Seconds on a clock that stops while no thread is in a call of hocket. The six steps of a
    /// transfer use it, so that they exclude the program's own computation between the start of an
    /// operation and its wait. Requires the turn.
    double seconds() const;

    /// MPI_Finalize has begun: incomplete operations fail from now on.
    void end() { ended_ = true; }
    bool ended() const { return ended_.load(std::memory_order_relaxed); }

    /// Whether this thread blocks in a wait, and no other operation of the process needs polls. The
    /// caller is the awaited operation, in its poll.
    bool only_awaited() const;

    /// For each communicator: the number of its processes that run on this one's cores.
    void add_node_processes(int processes);
    /// True if this node has more processes than cores, so that spinning takes time from the
    /// awaited process.
    bool crowded() const { return neighbours_ > cores_; }
    /// As `crowded`, for processes with so many threads each.
    bool crowded(int threads) const { return neighbours_ * threads > cores_; }

  private:
    friend class EngineLock;
    friend class Waiter;
    Engine();
    std::vector<std::shared_ptr<Operation>> operations_;
    std::vector<std::shared_ptr<Operation>> posted_;
    std::vector<std::shared_ptr<Operation>> background_, posted_background_;
    std::size_t next_background_ = 0;
    void progress_background();
    std::mutex posting_;
    std::atomic<bool> any_posted_{false};
    std::recursive_mutex mutex_;
    void enter();
    void leave();
    int thread_level();
    std::unique_lock<std::recursive_mutex> try_turn();
    int cores_ = 1, neighbours_ = 1;
    std::atomic<bool> ended_{false};
    std::atomic<int> level_{-1}, flows_{0};
    int inside_ = 0;                    // turns and waits, nested and of all threads
    double outside_ = 0, left_at_ = 0;  // seconds without any of them; the end of the last one
    bool progressing_ = false;
    std::uint64_t polls_ = 1;
    double next_mpi_ = 0;  // seconds
    std::atomic<std::thread::id> waiter_{};
};

/// Whether the process may call MPI: after MPI_Init, before MPI_Finalize.
bool running();
/// @throws Error if it may not.
void require_running();
/// @throws Error once MPI_Finalize has begun. For uses of objects that were made while MPI ran: it
///         reads memory only.
void require_not_ended();

/// Held during uses of hocket's own state or of MPI. Threads take turns if MPI allows several
/// (MPI_THREAD_MULTIPLE); otherwise a second thread inside is the caller's mistake.
class EngineLock {
  public:
    /// @throws Error if MPI has ended, or its thread level does not allow this thread to call it
    ///         now.
    EngineLock();
    /// For a thread whose call has been admitted: waits for its turn.
    enum Waiting { waiting };
    explicit EngineLock(Waiting);
    ~EngineLock();
    EngineLock(const EngineLock&) = delete;
    EngineLock& operator=(const EngineLock&) = delete;

  private:
    Engine& engine_;
};

/// While it lives, its thread must not wait for operations: it starts those of a communication
/// step, and must go on to the next step.
class NonBlockingScope {
  public:
    explicit NonBlockingScope(std::string step);
    ~NonBlockingScope();
    NonBlockingScope(const NonBlockingScope&) = delete;
    NonBlockingScope& operator=(const NonBlockingScope&) = delete;

  private:
    std::string before_;
};
bool must_not_block();
/// @throws Error where this thread may not wait. `what`: "send"
void require_may_block(const std::string& what);

/// How a step with a stack of its own waits: `pause` returns true once the operation has completed,
/// and false in all other code. @throws the error of the operation.
using Pause = bool (*)(Operation& operation);
void set_pause(Pause pause);

/// Held by a thread while it waits: below MPI_THREAD_MULTIPLE no other thread is let in meanwhile.
class Waiter {
  public:
    Waiter();
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

  private:
    bool outermost_;
};

}  // namespace hocket::comm
