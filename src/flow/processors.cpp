// SPDX-License-Identifier: BSD-3-Clause
#include "flow/processors.hpp"

#include "base/at_end.hpp"
#include "base/wakeup.hpp"
#include "comm/polled.hpp"
#include "flow/state.hpp"
#include "hocket/binding.hpp"

namespace hocket::flow {
namespace {

Processors* processors() {
    State* const state = thread_context().state;
    if (!platform::simulated || !may_pause() || state == nullptr) return nullptr;
    return state->processors ? &*state->processors : nullptr;
}

}  // namespace

void Processors::take(const State& state, const Step& step) {
    const auto turn = waiting_.insert({-step.priority, step.number}).first;
    comm::FunctionOperation granted(
        [&] {
            // A ready step that has not begun may be more urgent.
            if (free_ == 0 || turn != waiting_.begin() || state.queues.any(0)) return false;
            waiting_.erase(turn);
            --free_;
            return true;
        },
        [] { return "a simulated processor"; });
    if (!granted.poll()) pause_for(granted);
}

void take_processor() {
    const ThreadContext& here = thread_context();
    if (Processors* const all = processors()) all->take(*here.state, *here.step);
}

void give_processor() {
    if (Processors* const all = processors()) all->give();
}

void pause_off_processor(Operation& operation) {
    const bool lends = processors() != nullptr && thread_context().step->body.suspends();
    if (lends) give_processor();
    const base::AtEnd again([&] {
        if (lends) take_processor();
    });
    pause_for(operation);
}

#ifdef HOCKET_SIMULATED
bool computes_apart() {
    return processors() != nullptr;
}

void compute(double seconds) {
    bool over = false;
    wakeup::after(seconds, over);
    comm::FunctionOperation work([&] { return over; }, [] { return "the end of its work"; });
    pause_for(work);
}
#endif

}  // namespace hocket::flow
