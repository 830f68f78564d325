// SPDX-License-Identifier: BSD-3-Clause
// The one wait.
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

#include "base/backoff.hpp"
#include "base/platform.hpp"
#include "base/text.hpp"
#include "base/trace.hpp"
#include "comm/engine.hpp"
#include "comm/fork.hpp"
#include "comm/interrupts.hpp"
#include "comm/loss_detector.hpp"
#include "comm/polled.hpp"
#include "hocket/binding.hpp"
#include "hocket/operation.hpp"

namespace hocket {
namespace {

void (*interrupt_check)() = nullptr;
volatile sig_atomic_t report_wanted = 0;

std::mutex waited_mutex;

// In an intrusive list, because a wait must not allocate.
class Registered;
Registered* waited = nullptr;  // the latest, of all threads

struct sigaction handler_before {};

// The previous handler still gets the signal: MPICH has one, and a program may.
void on_report_signal(int signal, siginfo_t* info, void* context) {
    report_wanted = 1;
    if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
        handler_before.sa_sigaction(signal, info, context);
    } else if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN) {
        handler_before.sa_handler(signal);
    }
}

void install_report_signal() {
    struct sigaction ours {};
    ours.sa_sigaction = on_report_signal;
    ours.sa_flags = SA_RESTART | SA_SIGINFO;
    sigaction(SIGUSR1, &ours, &handler_before);
}

class Registered {
  public:
    explicit Registered(const Operation& operation)
        : operation_(operation), since_(platform::seconds()) {
        const std::lock_guard lock(waited_mutex);
        before_ = std::exchange(waited, this);
        if (before_ != nullptr) before_->after_ = this;
    }
    ~Registered() {
        const std::lock_guard lock(waited_mutex);
        (after_ != nullptr ? after_->before_ : waited) = before_;
        if (before_ != nullptr) before_->after_ = after_;
    }
    Registered(const Registered&) = delete;
    Registered& operator=(const Registered&) = delete;

    /// The oldest first.
    static std::string listed() {
        std::string out;
        for (const Registered* each = waited; each != nullptr; each = each->before_)
            out = "hocket has been waiting for " +
                  text::seconds(platform::seconds() - each->since_) + ": " +
                  each->operation_.text() + "\n" + out;
        return out;
    }

  private:
    const Operation& operation_;
    double since_;
    Registered *before_ = nullptr, *after_ = nullptr;
};

constexpr double between_mpi = 20e-6;  // seconds

// Within a turn of the engine.
bool poll_all(Operation& operation) {
    // A simulated poll takes the simulator's time: one is enough.
    if (!platform::simulated && operation.poll()) return true;
    comm::Engine::instance().progress();
    return operation.poll();
}

std::atomic<comm::Pause> pause_step{nullptr};

// The deadline of this thread's calls that have no timeout.
thread_local Deadline usual_deadline;

// True if it has completed while the step that this thread runs was paused.
bool done_paused(Operation& operation, const Deadline& deadline) {
    const comm::Pause pause = pause_step.load(std::memory_order_relaxed);
    if (pause == nullptr) return false;
    bool done = false;
    const auto poll = [&] {
        done = operation.poll();
        return done || deadline.passed();
    };
    comm::FunctionOperation limited(poll, [&] { return operation.text(); });
    return pause(limited) && done;
}

// True if the last poll completes the operation. @throws DeadlineError otherwise.
bool done_at(const Deadline& deadline, Operation& operation) {
    const auto awaited = comm::awaited_by(operation);
    if (!awaited) return true;
    throw DeadlineError("gave up after " + text::seconds(deadline.timeout()) + ": " +
                        operation.text() + " is not done" + *awaited +
                        "; the operation itself goes on");
}

}  // namespace

Deadline Binding::set_deadline(const Deadline& deadline) {
    return std::exchange(usual_deadline, deadline);
}

Deadline Deadline::in(std::optional<double> timeout) {
    if (!timeout) return usual_deadline;
    Deadline deadline;
    if (!(*timeout >= 0))
        throw Error("timeout is " + std::to_string(*timeout) +
                    " s; give a number of seconds that is not negative, or none");
    deadline.timeout_ = *timeout;
    deadline.at_ = platform::seconds() + *timeout;
    return deadline;
}

double Deadline::left() const {
    return std::max(0.0, at_ - platform::seconds());
}

bool Deadline::passed() const {
    return std::isfinite(at_) && platform::seconds() >= at_;
}

void wait(Operation& operation, Deadline deadline) {
    comm::require_no_fork();
    if (comm::must_not_block()) comm::require_may_block(operation.text());
    report_on_signal();
    {
        const comm::EngineLock engine_lock(comm::EngineLock::waiting);
        if (comm::done_soon(operation)) return;
    }
    if (done_paused(operation, deadline)) return;
    const comm::InterpreterUnlocked unlocked;
    const Registered registered(operation);
    const comm::Waiter waiter;
    trace::Arguments details;
    if (trace::enabled()) details.add("for", operation.text());
    const trace::Span span("wait", details);
    base::Backoff backoff(comm::Engine::instance().crowded());
    double next_check = platform::seconds(), next_mpi = 0;
    comm::LossDetector loss_detector(next_check);
    for (;;) {
        {
            const comm::EngineLock engine_lock(comm::EngineLock::waiting);
            if (poll_all(operation)) return;
        }
        const auto stage = backoff.next();
        if (stage == base::Backoff::Stage::spin) {
            backoff.pause(stage);
            continue;
        }
        const double now = backoff.now();
        if (now >= next_mpi) {
            const comm::EngineLock engine_lock(comm::EngineLock::waiting);
            comm::Engine::instance().progress_mpi();
            next_mpi = now + between_mpi;
        }
        const bool late = deadline.passed();
        if (late || now >= next_check) {
            comm::check_interrupts();
            if (late && done_at(deadline, operation)) return;
            loss_detector.check(now, operation);
            next_check = now + comm::between_checks;
        }
        backoff.pause(stage);
    }
}

std::size_t wait_any(std::span<const std::shared_ptr<Operation>> operations, Deadline deadline) {
    if (operations.empty())
        throw Error("wait_any was given no operation, so none can ever be done");
    for (const auto& each : operations)
        if (each == nullptr)
            throw Error("operation " + std::to_string(&each - operations.data()) +
                        " of wait_any is a null pointer; give operations that were started");
    // Also with one that fails: the wait for it raises the error.
    const auto is_over = [](const auto& each) {
        try {
            return each->poll();
        } catch (const std::exception&) {
            return true;
        }
    };
    auto first = operations.begin();
    const auto poll = [&] {
        first = std::find_if(operations.begin(), operations.end(), is_over);
        return first != operations.end();
    };
    const auto text = [&] {
        return "any of " + std::to_string(operations.size()) +
               " requests, the first of which: " + operations.front()->text();
    };
    comm::FunctionOperation any(poll, text);
    wait(any, deadline);
    return static_cast<std::size_t>(first - operations.begin());
}

bool poll(Operation& operation) {
    comm::require_no_fork();
    {
        const comm::EngineLock engine_lock;
        if (!platform::simulated && operation.poll()) return true;
        comm::Engine::instance().progress_once();
        if (operation.poll()) return true;
    }
    comm::check_losses(operation);
    return false;
}

bool comm::done_soon(Operation& operation) {
    constexpr int polls = 64;
    if (poll_all(operation)) return true;
    if (platform::simulated || Engine::instance().crowded()) return false;
    for (int i = 0; i < polls; ++i) {
        Engine::instance().count_poll();
        if (operation.poll()) return true;
        platform::pause();
    }
    return false;
}

void comm::check_interrupts() {
    if (report_wanted != 0) {
        report_wanted = 0;
        std::fputs(pending_waits().c_str(), stderr);
    }
    trace::flush();
    if (interrupt_check != nullptr) interrupt_check();
}

double comm::coarse_seconds() {
    if constexpr (platform::simulated) return platform::seconds();
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

comm::InterruptCheck::InterruptCheck() : next_(coarse_seconds() + between_checks) {}

void comm::InterruptCheck::check() {
    const double now = coarse_seconds();
    if (now < next_) return;
    next_ = now + between_checks;
    check_interrupts();
}

void comm::set_pause(Pause pause) {
    pause_step = pause;
}

void set_interrupt_check(void (*check)()) {
    interrupt_check = check;
}

void report_on_signal() {
    static const bool installed = (install_report_signal(), true);
    static_cast<void>(installed);
}

std::string pending_waits() {
    const comm::EngineLock engine_lock(
        comm::EngineLock::waiting);  // a flow's text needs it; the wait does not need it afterwards
    const std::lock_guard lock(waited_mutex);
    const std::string out = Registered::listed();
    return out.empty() ? "hocket waits for nothing\n" : out;
}

}  // namespace hocket
