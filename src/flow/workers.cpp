// SPDX-License-Identifier: BSD-3-Clause
// The threads of a flow, and their waits for ready steps.
#include <utility>

#include "base/at_end.hpp"
#include "base/backoff.hpp"
#include "base/platform.hpp"
#include "base/trace.hpp"
#include "comm/awaited_peers.hpp"
#include "comm/engine.hpp"
#include "comm/fork.hpp"
#include "comm/interrupts.hpp"
#include "flow/state.hpp"
#include "flow/steal_throttle.hpp"

namespace hocket::flow {
namespace {

// Seconds that an idle thread stays awake. Waking it takes some tens of microseconds. If threads
// share cores, its polling costs the others more than that.
constexpr double awake = 1e-3, awake_if_crowded = 50e-6;
// Polling communication can take longer than a short step.
constexpr double between_looks = 2e-6;

base::Backoff backoff_for(int threads) {
    const bool crowded = comm::Engine::instance().crowded(threads);
    return base::Backoff(crowded, crowded ? awake_if_crowded : awake);
}

int workers_of(const FlowOptions& options) {
    if (options.workers && (*options.workers < 1 || *options.workers > base::most_threads))
        throw Error("a flow with " + std::to_string(*options.workers) +
                    " workers cannot run anything; give from 1 (the thread that waits runs the "
                    "steps) to " +
                    std::to_string(base::most_threads) + ", or none for one a core");
    // If steps ran concurrently, a changed input could not be attributed to a step.
    return platform::simulated || options.check ? 1
                                                : options.workers.value_or(base::default_threads());
}

bool wants_agent_thread(const FlowOptions& options, int workers) {
    if (platform::simulated || options.agent == Agent::between_steps) return false;
    const bool allowed = comm::Engine::instance().several_threads_may_communicate();
    if (options.agent == Agent::thread && !allowed)
        throw Error(
            "a flow is to have a thread for its communication, but MPI was started with a thread "
            "level below MPI_THREAD_SERIALIZED; start it with MPI_Init_thread(…, "
            "MPI_THREAD_SERIALIZED, …), or let the agent poll between steps");
    return allowed && (options.agent == Agent::thread || workers < platform::cores());
}

/// An idle thread waits for any step to become ready.
class Idle final : public Operation {
  public:
    Idle(const State& state, const WaitTarget& target, const BlockedWait& stuck)
        : state_(state), awaited_(target), stuck_(stuck) {}
    bool poll() override {
        // The wait asks for whom it waits: those are the agent's operations, which it polls itself.
        if (comm::AwaitedPeers::collecting() != nullptr) static_cast<void>(state_.agent->poll());
        const int worker = state_.worker_here();
        return state_.queues.has_bound(worker) ||
               (state_.may_begin() && state_.queues.any(worker)) || state_.helpers.wanted() ||
               stuck_.failed() || awaited_.over();
    }
    std::string text() const override {
        std::string out = "a flow waits for " + awaited_.what;
        const std::string comm = state_.agent->busy() ? state_.agent->text() : "";
        return comm.empty() ? out : out + ": " + comm;
    }

  private:
    const State& state_;
    const WaitTarget& awaited_;
    const BlockedWait& stuck_;
};

}  // namespace

State::State(Flow& of, const FlowOptions& wanted)
    : flow(of),
      options(wanted),
      workers(workers_of(wanted)),
      threads(std::min(wanted.threads, workers)),
      agent_thread(wants_agent_thread(wanted, workers)),
      queues(workers),
      helpers([this] { wake(); }),
      top(nullptr, wanted.record),
      agent(std::make_shared<CommAgent>(*this)),
      timed(wanted.record || trace::enabled()) {
    comm::require_no_fork();
    if (wanted.window < 1)
        throw Error("a flow with a window of " + std::to_string(wanted.window) +
                    " steps cannot run anything; give 1 or more");
    if (wanted.threads < 1 || wanted.threads > base::most_threads)
        throw Error("a flow whose steps have " + std::to_string(wanted.threads) +
                    " threads cannot run anything; give from 1 to " +
                    std::to_string(base::most_threads));
    if (platform::simulated && !wanted.check && wanted.workers.value_or(1) > 1)
        processors.emplace(*wanted.workers);
    if (wanted.record) recorder.emplace();
    const int crew = workers - 1 + (agent_thread ? 1 : 0);
    if (crew == 0) return;
    comm::Engine::instance().expect_threads(+1);
    crew_ = std::make_unique<base::ServiceThreads>(crew, [this](int number) {
        if (number < workers - 1)
            serve(number + 1);
        else
            serve_agent();
    });
}

State::~State() {
    end_threads();
    detach();
}

void State::end_threads() {
    if (comm::forked()) {  // the threads exist in the parent only
        [[maybe_unused]] auto* const left_behind = crew_.release();
    }
    if (!crew_) return;
    {
        const std::lock_guard lock(sleeping_);
        closing_ = true;
    }
    woken_.notify_all();
    agent_woken_.notify_all();
    crew_.reset();
    comm::Engine::instance().expect_threads(-1);
}

void State::serve(int worker) {
    thread_context() = {nullptr, this, worker, nullptr, 0};
    trace::name_thread("worker " + std::to_string(worker));
    auto& engine = comm::Engine::instance();
    base::Backoff backoff = backoff_for(workers);
    std::int64_t moves = agent->moves();
    StealThrottle steal_throttle;
    Step* step = nullptr;
    while (!closing_.load(std::memory_order_relaxed)) {
        while (helpers.help()) {
            communicate();
            backoff.reset();
        }
        const bool may_take = step != nullptr || queues.has_own(worker) ||
                              steal_throttle.allows([this] { return progress(); });
        if (step == nullptr && may_take) step = take(worker);
        if (step != nullptr) {
            step = run(*step, worker);
            steal_throttle.ran();
            backoff.reset();
            continue;
        }
        const bool polls = !agent_thread && agent->busy();
        if (polls) engine.try_progress();
        if (!may_take) {
            platform::pause();
            continue;
        }
        if (queues.any(worker) || helpers.wanted()) continue;
        if (polls && std::exchange(moves, agent->moves()) != moves) backoff.reset();
        const auto stage = backoff.next();
        if (polls || stage != base::Backoff::Stage::sleep) {
            backoff.pause(stage);
            continue;
        }
        std::unique_lock lock(sleeping_);
        sleepers_.fetch_add(1);
        woken_.wait(lock, [&] {
            return closing_ || queues.any(worker) || helpers.wanted() ||
                   (!agent_thread && agent->busy());
        });
        sleepers_.fetch_sub(1);
        backoff.reset();
    }
    thread_context() = {};
}

void State::serve_agent() {
    auto& engine = comm::Engine::instance();
    base::Backoff backoff = backoff_for(workers + 1);
    std::int64_t moves = agent->moves();
    while (!closing_.load(std::memory_order_relaxed)) {
        if (!agent->busy()) {
            std::unique_lock lock(sleeping_);
            agent_sleeps_ = true;
            agent_woken_.wait(lock, [&] { return closing_ || agent->busy(); });
            agent_sleeps_ = false;
            backoff.reset();
        }
        engine.try_progress();
        if (std::exchange(moves, agent->moves()) != moves) backoff.reset();
        backoff.pause(backoff.next());
    }
}

void State::wake(bool all) {
    // Either a sleeper sees the new step, or this thread sees the sleeper: each first counts
    // itself, then looks at the other's count.
    if (sleepers_.load() > 0) {
        { const std::lock_guard lock(sleeping_); }
        if (all || helpers.wanted())
            woken_.notify_all();
        else
            woken_.notify_one();
    }
    if (agent_sleeps_.load() && agent->busy()) {
        { const std::lock_guard lock(sleeping_); }
        agent_woken_.notify_one();
    }
}

void State::help(const WaitTarget& target, const Deadline& deadline) {
    off_processor([&] { run_until(target, deadline); });
}

void State::run_until(const WaitTarget& target, const Deadline& deadline) {
    const int worker = worker_here();
    Step* step = nullptr;
    // If this wait ends first, a ready step goes to other threads.
    const base::AtEnd give_back([&] {
        if (step != nullptr) ready(*step, worker);
    });
    comm::InterruptCheck outside;
    const auto check = [&] {
        outside.check();
        if (deadline.limited() && deadline.passed())
            throw DeadlineError("gave up waiting for " + target.what +
                                " of a flow; its steps go on, and can be waited for again");
    };
    while (!target.over()) {
        if (helpers.help()) {
            communicate();
            check();
            continue;
        }
        if (step == nullptr && target.all_run()) {
            step = await_running(target, deadline, check);
            continue;
        }
        if (step == nullptr) step = take(worker);
        if (step == nullptr) {
            // A waiter releases a cancelled flow, with the memory of its steps.
            const BlockedWait stuck(target, deadline.limited(), cancelled.load());
            Idle idle(*this, target, stuck);
            const Unpaused unpaused;
            if (!stuck.failed()) hocket::wait(idle, deadline);
            stuck.check();
            continue;
        }
        step = run(*step, worker);
        check();
    }
}

// Other threads run all that this step waits for. Any other step might take longer, and what waits
// for this one may be urgent. Returns a step within those, or nullptr.
Step* State::await_running(const WaitTarget& target, const Deadline& deadline,
                           const std::function<void()>& check) {
    const BlockedWait stuck(target, deadline.limited(), cancelled.load());
    base::Backoff backoff = backoff_for(workers);
    while (target.all_run() && !target.over()) {
        const auto stage = backoff.next();
        if (stage != base::Backoff::Stage::spin)
            if (Step* const step = take_of(*target.scope.owner(), worker_here())) return step;
        if (helpers.help()) backoff.reset();
        backoff.pause(stage);
        communicate();
        check();
        stuck.check();
    }
    return nullptr;
}

void State::give_way() {
    communicate();
    const ThreadContext& here = thread_context();
    if (here.state != this || here.step == nullptr || here.step->communicates) return;
    // Each of these steps runs above the last on the stack, with a higher priority, so the depth is
    // at most the number of priorities.
    const int priority = here.step->priority, worker = here.worker;
    if (platform::simulated && processors && may_pause()) {
        if (!queues.has_above(priority) && !processors->wanted_above(priority)) return;
        give_processor();
        take_processor();
        return;
    }
    Step* step = nullptr;
    while (step != nullptr || queues.has_above(priority) || queues.has_bound(worker)) {
        if (step == nullptr) step = take(worker);
        if (step == nullptr) return;
        if (step->priority <= priority) {
            ready(*step, worker);
            return;
        }
        step = run(*step, worker);
    }
}

void State::communicate() {
    if (agent_thread || !agent->busy()) return;
    const double now = platform::seconds();
    // In simulation no time passes in computing steps.
    if (!platform::simulated && now - looked_.load(std::memory_order_relaxed) < between_looks)
        return;
    if (comm::Engine::instance().try_progress())  // MPI may not allow every thread
        looked_.store(now, std::memory_order_relaxed);
}

}  // namespace hocket::flow
