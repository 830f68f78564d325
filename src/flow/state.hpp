// SPDX-License-Identifier: BSD-3-Clause
// What stands behind a hocket::Flow: its steps, the threads that run them, the agent.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "base/pool.hpp"
#include "flow/agent.hpp"
#include "flow/queue.hpp"
#include "flow/recorder.hpp"
#include "flow/scope.hpp"
#include "flow/waits.hpp"
#include "hocket/flow.hpp"

namespace hocket::flow {

struct State {
    State(Flow& of, const FlowOptions& wanted);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    // insert.cpp
    void insert(Body&& body, std::span<const Access> accesses, StepOptions&& its,
                bool communicates);
    /// The scope in which this thread inserts.
    Scope& scope_here();
    /// The same. @throws Error in a step that communicates.
    Scope& scope_to_wait_in();

    // executor.cpp
    /// A step that may run, for this thread; nullptr: there is none.
    Step* take(int worker);
    /// Runs it, and communicates. What this worker should run next, of those that became ready by
    /// it, if any.
    Step* run(Step& step, int worker);
    /// The step may run now.
    void ready(Step& step, int worker);
    /// After its body, its own steps and its operations.
    Step* finish(Step& step, int worker, bool take_next);
    /// The one worker that this thread is, here.
    int worker_here() const { return thread_context().state == this ? thread_context().worker : 0; }

    // workers.cpp
    void serve(int worker);  ///< what a thread of the crew does
    void serve_agent();
    void wake();
    /// Starts and polls communication, if that is the workers' business and due.
    void communicate();
    /// Runs steps, and waits where there is nothing to run, until that is over. @throws
    /// DeadlineError; Error where it never will be, as it waits for a step that waits for it.
    void help(const WaitTarget& target, const Deadline& deadline);
    /// Changes when steps are inserted, and mostly when some are taken.
    std::uint64_t progress() const { return (numbers.load() << 20U) + queues.waiting(); }
    /// What a step that this thread runs asks for: see Flow::give_way.
    void give_way();
    void end_threads();  ///< only when nothing is left to run
    void detach() { agent->detach(); }

    Flow& flow;
    const FlowOptions options;
    const int workers, threads;
    const bool agent_thread;
    Queues queues;
    base::HelperThreads helpers;  // the workers, of each other's kernels
    Scope top;
    std::shared_ptr<CommAgent> agent;
    std::atomic<std::uint64_t> numbers{0};
    std::atomic<bool> cancelled{false};
    std::optional<Recorder> recorder;
    const bool timed;  // someone wants to know when steps ran

  private:
    Step* run_now(Step& step, int worker);
    void call(Step& step, int worker);
    bool acquire(Step& step);
    Step* end(Step& step, int worker, bool take_next);
    void combine(Step& step);

    SpinLock commuting_;
    std::mutex sleeping_;
    std::condition_variable woken_, agent_woken_;
    std::atomic<int> sleepers_{0};
    std::atomic<bool> closing_{false}, agent_sleeps_{false};
    std::atomic<double> looked_{0};  // at communication, by a worker
    std::unique_ptr<base::ServiceThreads> crew_;
};

}  // namespace hocket::flow
