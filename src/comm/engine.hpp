// SPDX-License-Identifier: BSD-3-Clause
// All that this process has under way, and the rules of who may drive it.
#pragma once

#include <atomic>
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

    /// Polls this operation in every wait of the process until it is done or has failed (its
    /// owner sees the failure when it polls).
    void add(std::shared_ptr<Operation> operation);
    /// As `add`, from the next turn on; for those who cannot take one, as destructors that may run
    /// under a lock that the holder of the turn waits for.
    void post(std::shared_ptr<Operation> operation);
    /// As `post`, for what nobody waits for: while others are polled, one of these is.
    void post_background(std::shared_ptr<Operation> operation);
    /// Polls it once: now, if this thread can have the turn without waiting, else as
    /// `post_background`. For what destructors leave to be freed, on any thread.
    void soon(std::shared_ptr<Operation> operation);
    /// No longer, as its owner has seen it end: what is started often would be here many times.
    void remove(const Operation& operation);
    /// Polls everything under way once. The caller holds the turn.
    void progress();

    /// The same, unless another thread holds the turn, or this one may not communicate: false then.
    bool try_progress();
    /// False where MPI was started below MPI_THREAD_SERIALIZED.
    bool several_threads_may_communicate();
    /// `more` flows have threads from now on (or fewer, if negative). They take turns with each
    /// other, so none of them is a second thread that the program let in by mistake.
    void expect_threads(int more) { flows_ += more; }

    /// Seconds on a clock that stands still while no thread is in a call of hocket: what the six
    /// steps of a transfer are measured by, so that they leave out what the program itself does
    /// between starting an operation and waiting for it. Call with the turn.
    double seconds() const;

    /// MPI_Finalize has begun: operations that are not done fail from now on.
    void end() { ended_ = true; }
    bool ended() const { return ended_.load(std::memory_order_relaxed); }

    /// Told of each communicator: how many of its processes run on cores of this one.
    void add_node_processes(int processes);
    /// True where more processes than cores share this node, so that spinning takes time from the
    /// one that is waited for.
    bool crowded() const { return neighbours_ > cores_; }
    /// The same for processes that have so many threads each.
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
    double outside_ = 0, left_at_ = 0;  // seconds with none of them; when the last one ended
    bool progressing_ = false;
    std::atomic<std::thread::id> waiter_{};
};

/// Whether MPI may be called: after MPI_Init, before MPI_Finalize.
bool running();
/// @throws Error where it may not.
void require_running();
/// @throws Error once MPI_Finalize has begun. For whoever uses what was made while MPI ran: it
/// reads memory only.
void require_not_ended();

/// Held while hocket's own state or MPI is used. Threads take turns where MPI allows several
/// (MPI_THREAD_MULTIPLE); below that, a second thread inside is the caller's mistake.
class EngineLock {
  public:
    /// @throws Error where MPI has ended, or its thread level does not allow this thread to call it
    /// now.
    EngineLock();
    /// For a thread whose call was let in: waits for its turn.
    enum Waiting { waiting };
    explicit EngineLock(Waiting);
    ~EngineLock();
    EngineLock(const EngineLock&) = delete;
    EngineLock& operator=(const EngineLock&) = delete;

  private:
    Engine& engine_;
};

/// While one lives, its thread may not wait for operations: it starts those of a communication
/// step, as whose driver it must go on to the next.
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
