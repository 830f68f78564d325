// SPDX-License-Identifier: BSD-3-Clause
// Waits of threads of a flow, and the detection of cycles among waits within steps.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/numbering.hpp"
#include "flow/scope.hpp"
#include "hocket/binding.hpp"

namespace hocket::flow {

struct State;

/// The current activity of a thread for a flow.
struct ThreadContext {
    Flow* flow = nullptr;  // the flow of its step, or the entered one
    State* state = nullptr;
    int worker = 0;
    Step* step = nullptr;                  // the step that it runs
    int depth = 0;                         // nesting of steps within waits
    const ThreadContext* below = nullptr;  // the context to which it returns
};
ThreadContext& thread_context();

/// Sets this thread's context, and restores it. A step does not have the deadline, or the first
/// index, of whatever call its thread has interrupted.
class Running {
  public:
    Running(State& state, int worker, Step* step);
    ~Running() {
        Binding::set_deadline(deadline_);
        thread_context() = before_;
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

  private:
    ThreadContext before_;
    Deadline deadline_;
    text::FirstIndex counting_{0};
};

/// While it lives, waits of this thread hold its worker, because they run steps themselves.
class Unpaused {
  public:
    Unpaused();
    ~Unpaused();
    Unpaused(const Unpaused&) = delete;
    Unpaused& operator=(const Unpaused&) = delete;

  private:
    void* before_;
};

/// The end of all but `rest` steps of a scope; or of the listed steps.
struct WaitTarget {
    Scope& scope;
    std::string what;
    std::int64_t rest = 0;
    const std::vector<Ref>* users = nullptr;

    bool over() const;
    /// Whether other threads run all of its steps, which are those of a step.
    bool all_run() const {
        return !platform::simulated && rest == 0 && users == nullptr && scope.owner() != nullptr &&
               scope.all_begun();
    }
};

/// A wait of a thread with no ready step, as long as this object lives. Within a step it blocks
/// that step and all steps below it on the same thread, and therefore their successors and outer
/// steps. So waits for different flows can form a cycle. The wait that closes a cycle gets an
/// error.
class BlockedWait {
  public:
    /// `limited`: the wait has a deadline. `stays`: this wait must not end early, so another one of
    /// the cycle gets the error.
    BlockedWait(const WaitTarget& target, bool limited, bool stays);
    ~BlockedWait();
    BlockedWait(const BlockedWait&) = delete;
    BlockedWait& operator=(const BlockedWait&) = delete;

    bool failed() const { return failed_.load(std::memory_order_acquire); }
    /// @throws Error if this wait can never end.
    void check() const;

  private:
    class WaitCycle;

    bool may_be_blocked() const;

    const WaitTarget& awaited_;
    const ThreadContext here_;
    const bool listed_, stays_, foreign_;
    BlockedWait *before_ = nullptr, *after_ = nullptr;  // in the list of all waits
    std::string why_;
    std::atomic<bool> failed_{false};
};

}  // namespace hocket::flow
