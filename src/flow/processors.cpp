// SPDX-License-Identifier: BSD-3-Clause
#include "flow/processors.hpp"

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

bool Processors::any_for(const Queues& ready) const {
    return free_ > 0 &&
           (waiting_.empty() || ready.has_above(static_cast<int>(-waiting_.begin()->first)));
}

void Processors::take(const Queues& ready, const Step& step) {
    const auto turn = waiting_.insert({-std::int64_t{step.priority}, step.number}).first;
    comm::FunctionOperation granted(
        [&] {
            // A ready step that has not begun may be more urgent.
            if (free_ == 0 || turn != waiting_.begin() || ready.has_above(step.priority))
                return false;
            waiting_.erase(turn);
            --free_;
            return true;
        },
        [] { return "a simulated processor"; });
    if (!granted.poll()) pause_for(granted);
}

void take_processor() {
    const ThreadContext& here = thread_context();
    if (Processors* const all = processors()) all->take(here.state->queues, *here.step);
}

void give_processor() {
    if (Processors* const all = processors()) all->give();
}

void pause_off_processor(Operation& operation) {
    if (processors() != nullptr && thread_context().step->body.suspends())
        off_processor([&] { pause_for(operation); });
    else
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
