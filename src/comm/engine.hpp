// SPDX-License-Identifier: BSD-3-Clause
// All that this process has under way, and the rules of who may drive it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
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
    /// No longer, as its owner has seen it end: what is started often would be here many times.
    void remove(const Operation& operation);
    /// Polls everything under way once. The caller holds the turn.
    void progress();

    /// Seconds on a clock that stands still while no thread is in a call of hocket: what the six
    /// steps of a transfer are measured by, so that they leave out what the program itself does
    /// between starting an operation and waiting for it. Call with the turn.
    double seconds() const;

    /// Told of each communicator: how many of its processes run on this node.
    void expect_neighbours(int processes);
    /// True where more processes than cores share this node, so that spinning takes time from the
    /// one that is waited for.
    bool crowded() const { return neighbours_ > cores_; }

  private:
    friend class Turn;
    friend class Waiter;
    Engine();
    std::vector<std::shared_ptr<Operation>> operations_;
    std::recursive_mutex mutex_;
    void enter();
    void leave();
    int cores_ = 1, neighbours_ = 1, level_ = -1;
    int inside_ = 0;                    // turns and waits, nested and of all threads
    double outside_ = 0, left_at_ = 0;  // seconds with none of them; when the last one ended
    bool progressing_ = false;
    std::atomic<std::thread::id> waiter_{};
};

/// Held while hocket's own state or MPI is used. Threads take turns where MPI allows several
/// (MPI_THREAD_MULTIPLE); below that, a second thread inside is the caller's mistake.
class Turn {
  public:
    /// @throws Error where MPI's thread level does not allow this thread to call it now.
    Turn();
    /// For a thread whose call was let in: waits for its turn.
    enum Waiting { waiting };
    explicit Turn(Waiting);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    Engine& engine_;
};

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
