// SPDX-License-Identifier: BSD-3-Clause
// Execution and end of steps.
#include <cstdlib>
#include <new>
#include <utility>

#include "base/platform.hpp"
#include "base/trace.hpp"
#include "flow/state.hpp"

namespace hocket::flow {
namespace {

/// The private buffers of a step's reductions.
class Parts {
  public:
    explicit Parts(Step& step) : step_(step) {
        if (!step.extras) return;
        for (const Access& access : step.extras->reductions) {
            const std::int64_t bytes = access.region.size();
            owned_.emplace_back(::operator new(static_cast<std::size_t>(bytes), alignment));
            parts_.push_back(owned_.back().get());
            access.reduction->fill(parts_.back(), bytes);
        }
    }

    std::vector<void*>* all() { return &parts_; }
    void combine() {
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const Access& access = step_.extras->reductions[i];
            const std::lock_guard lock(step_.extras->reduced[i]->combining);
            access.reduction->combine(access.region, parts_[i]);
        }
    }

  private:
    static constexpr std::align_val_t alignment{64};
    struct Free {
        void operator()(void* part) const { ::operator delete(part, alignment); }
    };
    Step& step_;
    std::vector<std::unique_ptr<void, Free>> owned_;
    std::vector<void*> parts_;
};

/// Keeps the coroutine that the function of a computing step has given back.
void keep_rest(Step& step, Operations& started) {
    if (!step.body.suspends())
        throw Error(
            "a step that computes has given back an operation, for which nothing would wait; "
            "insert it as a step that communicates, or let it be a coroutine that awaits the "
            "operation");
    step.more().rest = std::static_pointer_cast<Suspended>(std::move(started.front()));
}

}  // namespace

Running::Running(State& state, int worker, Step* step)
    : before_(thread_context()), deadline_(Binding::set_deadline({})) {
    thread_context() = {&state.flow, &state, worker, step, before_.depth + 1, &before_};
}

void* Here::part(std::size_t i) const {
    if (parts_ == nullptr || i >= parts_->size())
        throw Error("a step asks for its part of reduction " + std::to_string(i) + ", but has " +
                    std::to_string(parts_ == nullptr ? 0 : parts_->size()) + " reductions");
    return (*parts_)[i];
}

static bool is_of(const Step& step, const Step& owner) {
    for (const Step* up = step.scope->owner(); up != nullptr; up = up->scope->owner())
        if (up == &owner) return true;
    return false;
}

Step* State::take_of(const Step& owner, int worker) {
    return queues.take_if(worker, [&](const Step& each) { return is_of(each, owner); });
}

Step* State::take(int worker) {
    if (!may_begin()) return queues.take_bound(worker);
    // In deeply nested waits, run only the steps that the innermost wait needs, because stacks are
    // finite.
    constexpr int deepest = 24;
    // A flow created within them has only its own steps on the stack.
    const bool deep = thread_context().depth >= deepest && thread_context().state == this;
    Step* const inside = deep ? thread_context().step : nullptr;
    return inside == nullptr ? queues.take(worker, [this] { wake(); }) : take_of(*inside, worker);
}

Step* State::run(Step& step, int worker) {
    Step* const next = run_now(step, worker);
    communicate();  // this may make an urgent step ready
    if (next == nullptr || !(queues.has_above(next->priority) || queues.has_bound(worker)))
        return next;
    ready(*next, worker);
    return nullptr;
}

Step* State::run_now(Step& step, int worker) {
    const bool resumes = step.rest() != nullptr;
    const bool goes_on = resumes && step.rest()->has_stack();
    if (!goes_on && (step.stopped.load(std::memory_order_relaxed) ||
                     cancelled.load(std::memory_order_relaxed))) {
        step.failed = true;
        if (!resumes) return end(step, worker, true);
        step.extras->rest.reset();
    } else {
        if (!resumes && step.extras && !step.extras->locks.empty() && !acquire(step))
            return nullptr;
        Step::expect(step.successors.load(std::memory_order_relaxed));
        if (!call(step, worker)) {
            agent->put(step);  // which gives it back once it may go on
            wake();
            return nullptr;
        }
    }
    return over(step, worker, true);
}

Step* State::over(Step& step, int worker, bool take_next) {
    // A step with nested steps ends with the last of them, which may have ended before the body.
    if (step.extras && step.extras->inner && !step.extras->inner->leave_body()) return nullptr;
    return finish(step, worker, take_next);
}

bool State::call(Step& step, int worker) {
    const double begin = timed ? platform::seconds() : 0;
    bool over = true;
    const bool nested = step.scope->owner() != nullptr;
    if (nested) step.scope->begins();
    try {
        const Running running(*this, worker, &step);
        const base::ThreadShare share(step.threads, &helpers);
        Parts parts(step);
        if (step.rest() == nullptr) {
            step.note_inputs();
            const auto start = [&step](std::vector<void*>* its_parts) {
                Here here(its_parts);
                Operations started;
                step.body(here, started);
                if (!started.empty()) keep_rest(step, started);
            };
            if (platform::simulated && processors && !step.body.suspends() && parts.all()->empty())
                step.more().rest = on_own_stack([start] { start(nullptr); });
            else
                start(parts.all());
        }
        if (Suspended* const rest = step.rest()) {
            step.extras->worker = worker;
            over = rest->resume();
        }
        if (over) {
            // The accesses of its nested steps belong to it.
            if (step.extras && step.extras->inner &&
                (!parts.all()->empty() || !step.extras->inputs.empty())) {
                help({*step.extras->inner, "its steps"}, {});
            }
            step.check_inputs("it has written what it declared to read only");
            parts.combine();
        }
    } catch (...) {
        over = true;
        step.failed = true;
        step.scope->fail(step, std::current_exception());
    }
    if (over && step.rest() != nullptr) step.extras->rest.reset();
    if (nested && !over) step.scope->pauses();
    if (!timed) return over;
    const double end = platform::seconds();
    if (recorder) recorder->ran(step.number, worker, begin, end, step.failed);
    trace::record(step.text(), begin, end);
    return over;
}

bool State::acquire(Step& step) {
    const std::lock_guard lock(commuting_);
    for (Record* record : step.extras->locks) {
        if (!record->taken) continue;
        record->refused.push_back(&step);
        return false;
    }
    for (Record* record : step.extras->locks) record->taken = true;
    return true;
}

Step* State::finish(Step& step, int worker, bool take_next) {
    if (step.extras && step.extras->inner && step.extras->inner->failed()) {
        step.failed = true;
        step.scope->fail(step, step.extras->inner->failure().nested());
    }
    std::vector<Step*> next;
    if (step.extras && !step.extras->locks.empty()) {
        const std::lock_guard lock(commuting_);
        for (Record* record : step.extras->locks) {
            record->taken = false;
            next.insert(next.end(), record->refused.begin(), record->refused.end());
            record->refused.clear();
        }
    }
    for (Step* refused : next) ready(*refused, worker);
    return end(step, worker, take_next);
}

Step* State::end(Step& step, int worker, bool take_next) {
    step.body.reset();
    const bool failed = step.failed;
    Step* next = nullptr;
    Edge* edge = step.successors.exchange(Step::ended_mark(), std::memory_order_acq_rel);
    while (edge != nullptr) {
        Step& later = *edge->to;
        edge = edge->next;  // the edge is part of the later step, which may end at once
        Step::expect(edge);
        if (failed) later.stopped.store(true, std::memory_order_relaxed);
        if (later.waits.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        const bool first = next == nullptr || later.priority > next->priority;
        if (!take_next || later.communicates || !first) {
            ready(later, worker);
        } else if (Step* const before = std::exchange(next, &later)) {
            ready(*before, worker);
        }
    }
    Scope& scope = *step.scope;
    Step* const owner = scope.owner();
    step.extras.reset();
    if (step.named) step.name.clear();
    if (!scope.leave(step)) return next;
    // The last nested step of a step has ended.
    if (next != nullptr) ready(*next, worker);
    return finish(*owner, worker, take_next);
}

void State::ready(Step& step, int worker) {
    if (step.communicates) {
        agent->put(step);
    } else if (step.rest() != nullptr && step.rest()->has_stack()) {
        queues.put_for(step.extras->worker, &step);
        wake(true);
        return;
    } else {
        queues.put(worker, &step);
    }
    wake();
}

}  // namespace hocket::flow
