// SPDX-License-Identifier: BSD-3-Clause
// What a thread of a flow waits for, and waits within steps that are for each other.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "flow/scope.hpp"

namespace hocket::flow {

struct State;

/// What a thread does for a flow at this moment.
struct ThreadContext {
    Flow* flow = nullptr;  // whose step it runs, or that it entered
    State* state = nullptr;
    int worker = 0;
    Step* step = nullptr;                  // that it runs
    int depth = 0;                         // of steps within waits within steps
    const ThreadContext* below = nullptr;  // what it goes on with after that
};
ThreadContext& thread_context();

/// The end of all but `rest` of a scope's steps; or of certain ones.
struct WaitTarget {
    Scope& scope;
    std::string what;
    std::int64_t rest = 0;
    const std::vector<Ref>* users = nullptr;

    bool over() const;
};

/// A wait with nothing to run, as long as it lives. Within a step it keeps that step, and all below
/// it on the same thread, from ending; with them what comes after them, and whose steps they are.
/// So waits for different flows can be for each other. Who would be the last of such a circle is
/// told so.
class BlockedWait {
  public:
    /// `limited`: a deadline ends it, if nothing else does. `stays`: it must not end before its
    /// time, so that another one of the circle is told.
    BlockedWait(const WaitTarget& target, bool limited, bool stays);
    ~BlockedWait();
    BlockedWait(const BlockedWait&) = delete;
    BlockedWait& operator=(const BlockedWait&) = delete;

    bool told() const { return told_.load(std::memory_order_acquire); }
    /// @throws Error if it was told that it can never be over.
    void check() const;

  private:
    class WaitCycle;

    bool may_be_kept() const;

    const WaitTarget& awaited_;
    const ThreadContext here_;
    const bool listed_, stays_, foreign_;
    BlockedWait *before_ = nullptr, *after_ = nullptr;  // in the list of all
    std::string why_;
    std::atomic<bool> told_{false};
};

}  // namespace hocket::flow
