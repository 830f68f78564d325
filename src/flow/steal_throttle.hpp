// SPDX-License-Identifier: BSD-3-Clause
// Throttles workers that steal steps from others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/platform.hpp"

namespace hocket::flow {

/// A stolen step costs the transfer of a few cache lines between cores, about half a microsecond. A
/// worker runs shorter steps faster by itself. So a worker that has stolen short steps pauses
/// before it steals more, unless no one else progresses.
class StealThrottle {
  public:
    /// This worker has run a step.
    void ran() { ++steps_; }

    /// Whether to steal steps now. `progress()` is a number that changes when others insert or take
    /// steps.
    template <class Progress>
    bool allows(Progress&& progress) {
        const double now = platform::seconds();
        if (steps_ > 0) {
            const bool brief = now - began_ < worth_it * static_cast<double>(steps_);
            pause_ = brief ? std::clamp(2 * pause_, shortest, longest) : 0;
            steps_ = 0;
            until_ = now + pause_;
            looked_ = now;
        }
        if (now < until_) {
            if (now - looked_ < between_looks) return false;
            looked_ = now;
            const std::uint64_t seen = progress();
            if (std::exchange(seen_, seen) != seen) return false;
            until_ = now;
        }
        began_ = now;
        return true;
    }

  private:
    static constexpr double worth_it = 0.8e-6;  // seconds for a step, including its transfer
    static constexpr double shortest = 20e-6, longest = 320e-6, between_looks = 3e-6;
    std::uint64_t steps_ = 0;  // since it last stole
    std::uint64_t seen_ = 0;
    double began_ = 0, until_ = 0, pause_ = 0, looked_ = 0;
};

}  // namespace hocket::flow
