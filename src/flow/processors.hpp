// SPDX-License-Identifier: BSD-3-Clause
// The processors of a simulated process whose flow has several workers. The simulator lets one
// thread of a process communicate, and that thread runs all steps, each on a stack of its own. A
// step begins when a processor is free, and has it to its end. Its code takes no simulated time;
// while it spends the time of the work that it announces, the thread runs other steps.
#pragma once

#include <cstdint>
#include <exception>
#include <set>
#include <utility>

#include "flow/queue.hpp"
#include "hocket/operation.hpp"

namespace hocket::flow {

class Processors {
  public:
    explicit Processors(int count) : free_(count) {}

    /// The step, which this thread runs, pauses until it has a processor. The most urgent step is
    /// first; of two, the one inserted first.
    void take(const Queues& ready, const Step& step);
    void give() { ++free_; }
    /// Whether a step that has begun waits for one, and is more urgent.
    bool wanted_above(int priority) const {
        return !waiting_.empty() && -waiting_.begin()->first > priority;
    }
    /// Whether a ready step may begin: one is free, and no step waits for it that is as urgent.
    bool any_for(const Queues& ready) const;

  private:
    int free_;
    std::set<std::pair<std::int64_t, std::uint64_t>> waiting_;  // minus the priority, the number
};

/// For the step that this thread runs: it pauses until it has a processor, or gives its one back.
/// These do nothing for a step without simulated processors.
void take_processor();
void give_processor();
/// The step that this thread runs has no processor during `wait()`.
template <class Wait>
void off_processor(Wait&& wait) {
    std::exception_ptr error;
    give_processor();
    try {
        wait();
    } catch (...) {
        error = std::current_exception();
    }
    take_processor();
    if (error) std::rethrow_exception(error);
}
/// The step that this thread runs pauses until the operation completes: without a processor, if it
/// is one that waits in its middle.
void pause_off_processor(Operation& operation);

}  // namespace hocket::flow
