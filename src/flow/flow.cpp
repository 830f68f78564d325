// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/flow.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <utility>

#include "comm/fork.hpp"
#include "flow/state.hpp"

namespace hocket {
Flow::Flow(const FlowOptions& options)
    : state_(std::make_shared<flow::State>(*this, options)),
      exceptions_(std::uncaught_exceptions()) {}

Flow::~Flow() {
    if (comm::forked()) {
        // Leaked on purpose: its condition variables would wait for the parent's threads.
        static_cast<void>(new (std::nothrow) auto(state_));
        return;
    }
    close();
    state_->detach();
}

void Flow::close() noexcept {
    if (std::uncaught_exceptions() > exceptions_) cancel();
    while (!comm::forked()) {
        try {
            wait();
            break;
        } catch (const StepError& error) {
            if (std::uncaught_exceptions() <= exceptions_)
                std::fprintf(stderr, "hocket: a flow ended with an error nobody waited for: %s\n",
                             error.what());
            break;
        } catch (...) {  // Ctrl-C, a lost process: only end the running steps
            cancel();
        }
    }
    state_->end_threads();
}

void Flow::insert(flow::Body body, std::span<const Access> accesses, StepOptions options,
                  bool communicates) {
    comm::require_no_fork();
    state_->insert(std::move(body), accesses, std::move(options), communicates);
}

void Flow::wait(Deadline deadline) {
    comm::require_no_fork();
    flow::Scope& scope = state_->scope_to_wait_in();
    const bool inside = scope.owner() != nullptr;
    state_->help({scope, "its steps"}, deadline);
    if (!inside) state_->cancelled = false;
    flow::Failure failure = scope.take_failure();
    if (failure.error) failure.raise();
}

void Flow::wait_on(const Region& region, Deadline deadline) {
    flow::Scope& scope = state_->scope_to_wait_in();
    for (flow::Step* owner = scope.owner(); owner != nullptr; owner = owner->scope->owner())
        if (owner->scope->changed_before(*owner, region))
            throw Error(owner->text() + " waits for " + region.text() +
                        ", which steps beside it change: they may wait for this one. Let it read "
                        "the region, so that it begins after them");
    const auto users = scope.users_of(region);
    if (users.empty()) return;
    state_->help({scope, region.text(), 0, &users}, deadline);
    for (const flow::Ref& ref : users)
        if (ref.step->generation == ref.generation && ref.step->failed) {
            const flow::Failure failure = scope.failure();
            if (failure.error) failure.raise();
            throw Error("a step that uses " + region.text() + " was cancelled");
        }
}

void Flow::cancel() {
    state_->cancelled = true;
    state_->wake();
}

void Flow::give_way() {
    state_->give_way();
}

int Flow::workers() const {
    return state_->workers;
}
bool Flow::agent_thread() const {
    return state_->agent_thread;
}
std::int64_t Flow::steps() const {
    return static_cast<std::int64_t>(state_->numbers.load());
}
Flow* Flow::current() {
    return flow::thread_context().flow;
}

namespace {
thread_local Flow::Inside* entered_last = nullptr;
}

Flow::Inside::Inside(Flow& flow)
    : before_(std::exchange(flow::thread_context().flow, &flow)),
      below_(std::exchange(entered_last, this)) {
    if (below_ != nullptr) below_->above_ = this;
}

// Blocks of generators end in any order; a later block must not return to this flow.
Flow::Inside::~Inside() {
    if (above_ == nullptr) {
        flow::thread_context().flow = before_;
        entered_last = below_;
    } else {
        above_->before_ = before_;
        above_->below_ = below_;
    }
    if (below_ != nullptr) below_->above_ = above_;
}

std::string Flow::dot() const {
    if (!state_->recorder)
        throw Error("this flow does not record its steps; make it with record = true");
    return state_->recorder->dot();
}

std::string Flow::svg() const {
    if (!state_->recorder)
        throw Error("this flow does not record its steps; make it with record = true");
    return state_->recorder->svg(state_->workers);
}

}  // namespace hocket
