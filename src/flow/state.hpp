// SPDX-License-Identifier: BSD-3-Clause
// The implementation of hocket::Flow: its steps, the threads that run them, the agent.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/pool.hpp"
#include "flow/agent.hpp"
#include "flow/processors.hpp"
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
    /// The scope into which this thread inserts.
    Scope& scope_here();
    /// The scope in which this thread waits. @throws Error in a step that communicates.
    Scope& scope_to_wait_in();

    // run.cpp
    /// A ready step for this thread; nullptr: there is none.
    Step* take(int worker);
    /// Only a step within this one.
    Step* take_of(const Step& owner, int worker);
    /// Whether a ready step may begin, as always outside of simulation.
    bool may_begin() const {
        return !platform::simulated || !processors || processors->any_for(queues);
    }
    /// Runs it, and communicates. Returns a step that it made ready and this worker should run
    /// next, if any.
    Step* run(Step& step, int worker);
    /// The step is ready.
    void ready(Step& step, int worker);
    /// After its body and its operations.
    Step* over(Step& step, int worker, bool take_next);
    /// The worker that this thread is.
    int worker_here() const { return thread_context().state == this ? thread_context().worker : 0; }

    // workers.cpp
    void serve(int worker);  ///< the main loop of a worker thread
    void serve_agent();
    /// `all`: only one of the workers takes the step.
    void wake(bool all = false);
    /// Starts and polls communication, if that is the workers' task and due.
    void communicate();
    /// Runs steps, and waits if none is ready, until `target` is reached. @throws DeadlineError;
    /// Error if it waits for a step that waits for this one.
    void help(const WaitTarget& target, const Deadline& deadline);
    /// Changes when steps are inserted, and usually when some are taken.
    std::uint64_t progress() const { return (numbers.load() << 20U) + queues.waiting(); }
    /// Implements Flow::give_way for the step that this thread runs.
    void give_way();
    void end_threads();  ///< only when no step is left
    void detach() { agent->detach(); }

    Flow& flow;
    const FlowOptions options;
    const int workers, threads;
    std::optional<Processors> processors;  // of a simulated process with several workers
    const bool agent_thread;
    Queues queues;
    base::HelperThreads helpers;  // the workers, as helpers of each other's kernels
    Scope top;
    std::shared_ptr<CommAgent> agent;
    std::atomic<std::uint64_t> numbers{0};
    std::atomic<bool> cancelled{false};
    std::optional<Recorder> recorder;
    const bool timed;  // whether steps are timed, for traces or drawings

  private:
    Step* run_now(Step& step, int worker);
    void run_until(const WaitTarget& target, const Deadline& deadline);
    Step* await_running(const WaitTarget& target, const Deadline& deadline,
                        const std::function<void()>& check);
    /// Runs it to its end, or to its next wait: false then.
    bool call(Step& step, int worker);
    bool acquire(Step& step);
    Step* finish(Step& step, int worker, bool take_next);  ///< after its nested steps, too
    Step* end(Step& step, int worker, bool take_next);

    SpinLock commuting_;
    std::mutex sleeping_;
    std::condition_variable woken_, agent_woken_;
    std::atomic<int> sleepers_{0};
    std::atomic<bool> closing_{false}, agent_sleeps_{false};
    std::atomic<double> looked_{0};  // time of a worker's last poll of communication
    std::unique_ptr<base::ServiceThreads> crew_;
};

}  // namespace hocket::flow
