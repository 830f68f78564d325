// SPDX-License-Identifier: BSD-3-Clause
#include "flow/agent.hpp"

#include <utility>

#include "base/platform.hpp"
#include "base/trace.hpp"
#include "comm/engine.hpp"
#include "flow/state.hpp"

namespace hocket::flow {

void CommAgent::put(Step& step) {
    const std::lock_guard lock(guard_);
    ready_.push(&step);
    busy_.fetch_add(1);
    moves_.fetch_add(1, std::memory_order_relaxed);
}

void CommAgent::join_engine(const std::shared_ptr<CommAgent>& self) {
    {
        const std::lock_guard lock(guard_);
        if (std::exchange(joined_, true)) return;
    }
    const comm::EngineLock engine_lock(comm::EngineLock::waiting);
    comm::Engine::instance().add(self);
}

void CommAgent::detach() {
    const comm::EngineLock engine_lock(comm::EngineLock::waiting);
    state_ = nullptr;
}

bool CommAgent::poll() {
    if (busy_.load() == 0) return state_ == nullptr;
    for (;;) {
        Step* step = nullptr;
        {
            const std::lock_guard lock(guard_);
            if (ready_.empty()) break;
            step = ready_.pop();
        }
        start(*step);
    }
    // By index, because a completion may append ready steps; the next pass starts those.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < active_.size(); ++i) {
        Step* const step = active_[i];
        const bool goes_on = step->rest() != nullptr && step->rest()->has_stack();
        if (!goes_on && state_->cancelled.load()) leave_operations(*step);
        if (Suspended* const rest = step->rest(); rest != nullptr && rest->ready())
            state_->ready(*step, state_->worker_here());  // a worker goes on with it
        else if (rest == nullptr && done(*step))
            end(*step);
        else {
            active_[kept++] = step;
            continue;
        }
        busy_.fetch_sub(1);
        moves_.fetch_add(1, std::memory_order_relaxed);
    }
    active_.resize(kept);
    std::erase_if(orphans_, [&](Orphan& orphan) {
        std::erase_if(orphan.operations, [](const auto& operation) {
            try {
                return operation->poll();
            } catch (...) {
                return true;  // no one can observe it any more
            }
        });
        if (!orphan.operations.empty()) return false;
        busy_.fetch_sub(1);
        return true;
    });
    return busy_.load() == 0 && state_ == nullptr;
}

template <class Function>
auto CommAgent::within(Step& step, Function&& function) {
    const Running running(*state_, state_->worker_here(), &step);
    const comm::NonBlockingScope unblocked(step.text());
    const base::ThreadShare share(step.threads, &state_->helpers);
    return function();
}

void CommAgent::start(Step& step) {
    active_.push_back(&step);
    if (step.rest() != nullptr) return;
    if (step.stopped.load() || state_->cancelled.load()) {
        step.failed = true;
        return;
    }
    if (state_->timed) {
        step.more().began = platform::seconds();
        step.more().track = trace::Track(step.text(), {});
    }
    try {
        Operations started;
        within(step, [&] {
            step.note_inputs();
            Here here(nullptr);
            step.body(here, started);
        });
        std::erase(started, nullptr);
        if (!started.empty()) step.more().operations = std::move(started);
    } catch (...) {
        step.failed = true;
        step.scope->fail(step, std::current_exception());
    }
}

bool CommAgent::done(Step& step) {
    if (!step.extras) return true;
    const bool suspends = step.body.suspends();
    // Complete all of them, because a failed operation does not free the memory of the others.
    std::erase_if(step.extras->operations, [&](const auto& operation) {
        try {
            if (!suspends) return operation->poll();
            auto& rest = static_cast<Suspended&>(*operation);
            return rest.ready() && within(step, [&] { return rest.resume(); });
        } catch (...) {
            step.failed = true;
            step.scope->fail(step, std::current_exception());
            return true;
        }
    });
    if (!step.extras->operations.empty()) return false;
    try {
        if (!step.failed)
            step.check_inputs("what it declared to read only has changed while it communicated");
    } catch (...) {
        step.failed = true;
        step.scope->fail(step, std::current_exception());
    }
    return true;
}

void CommAgent::end(Step& step) {
    if (state_->recorder && step.extras && step.extras->began > 0)
        state_->recorder->ran(step.number, state_->workers, step.extras->began, platform::seconds(),
                              step.failed);
    state_->over(step, state_->worker_here(), false);
}

void CommAgent::leave_operations(Step& step) {
    if (!step.extras) return;
    auto left = std::exchange(step.extras->operations, {});
    if (step.rest() != nullptr) left.push_back(std::move(step.extras->rest));
    if (left.empty()) return;
    step.failed = true;
    std::erase_if(left, [](const auto& operation) { return operation->leave(); });
    if (left.empty()) return;
    orphans_.push_back({std::move(step.body), std::move(left)});
    busy_.fetch_add(1);
}

std::string CommAgent::text() const {
    const comm::EngineLock engine_lock(comm::EngineLock::waiting);
    std::string out;
    int listed = 0;
    const auto list = [&](const Step& step, const Operation& operation) {
        if (++listed <= 8) out += (out.empty() ? "" : "; ") + step.text() + ": " + operation.text();
    };
    for (const Step* step : active_) {
        if (!step->extras) continue;
        for (const auto& operation : step->extras->operations) list(*step, *operation);
        if (const Suspended* const rest = step->rest()) list(*step, *rest);
    }
    return listed > 8 ? out + "; and more" : out;
}

}  // namespace hocket::flow
