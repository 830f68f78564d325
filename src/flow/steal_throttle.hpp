// SPDX-License-Identifier: BSD-3-Clause
// When a worker without steps of its own leaves those of others alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/platform.hpp"

namespace hocket::flow {

/// A step that another core made ready costs a few cache lines' way there and back, about half a
/// microsecond. Steps that take no longer are done sooner by the thread that makes them, if it is
/// left alone; so a worker that has taken such steps waits a while before it takes more, unless
/// nobody gets on meanwhile.
class StealThrottle {
  public:
    /// This worker has run a step.
    void ran() { ++steps_; }

    /// Whether to take steps of others now. `progress()` is a number that changes when others
    /// insert steps or take some.
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
    static constexpr double worth_it = 0.8e-6;  // seconds a step, with its way
    static constexpr double shortest = 20e-6, longest = 320e-6, between_looks = 3e-6;
    std::uint64_t steps_ = 0;  // since others' were taken
    std::uint64_t seen_ = 0;
    double began_ = 0, until_ = 0, pause_ = 0, looked_ = 0;
};

}  // namespace hocket::flow
