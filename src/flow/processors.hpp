// SPDX-License-Identifier: BSD-3-Clause
// The processors of a simulated process whose flow has several workers. One thread of a simulated
// process communicates, and that thread runs all steps, each on a stack of its own. Their code
// takes no simulated time. A step that announces work has a processor for the time of the work,
// while the thread runs other steps: as many work at the same time as there are workers.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "hocket/operation.hpp"

namespace hocket::flow {

struct State;
struct Step;

class Processors {
  public:
    explicit Processors(int count) : free_(count) {}

    /// The step, which this thread runs, pauses until it has a processor. The most urgent step is
    /// first; of two, the one inserted first.
    void take(const State& state, const Step& step);
    void give() { ++free_; }
    bool wanted_above(int priority) const {
        return !waiting_.empty() && -waiting_.begin()->first > priority;
    }

  private:
    int free_;
    std::set<std::pair<int, std::uint64_t>> waiting_;  // minus the priority, and the number
};

// For the step that this thread runs; they do nothing if it is not on a simulated processor.
void take_processor();
void give_processor();
/// Pauses it. A step that waits in its middle has no processor meanwhile.
void pause_off_processor(Operation& operation);

}  // namespace hocket::flow
