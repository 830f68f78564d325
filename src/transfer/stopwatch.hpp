// SPDX-License-Identifier: BSD-3-Clause
// Times and traces the six steps of a transfer: each lap belongs to one of them.
#pragma once

#include <memory>
#include <utility>

#include "base/trace.hpp"
#include "comm/engine.hpp"
#include "hocket/transfer.hpp"

namespace hocket::transfer {

class Stopwatch {
  public:
    /// Adds the seconds of every lap to `profile`, if there is one. `track`: the transfer's own.
    /// Without a profile and a trace, it does not read the clock.
    explicit Stopwatch(std::shared_ptr<Profile> profile, trace::Track track = {})
        : profile_(std::move(profile)), track_(std::move(track)) {
        restart();
    }

    /// The time before belongs to no step.
    void restart() {
        if (profile_) last_ = comm::Engine::instance().seconds();
    }
    /// The time since the last lap belongs to this step.
    void lap(double Profile::*step) {
        if (profile_) {
            const double now = comm::Engine::instance().seconds();
            (*profile_).*step += now - last_;
            last_ = now;
        }
        if (track_.records()) track_.step(name_of(step));
    }
    /// The next transfer has another track.
    void begin(trace::Track track) { track_ = std::move(track); }
    void end() { track_.end(); }
    /// The transfer's name in the trace; "" without a trace.
    const std::string& name() const { return track_.name(); }

  private:
    static const char* name_of(double Profile::*step);

    std::shared_ptr<Profile> profile_;
    trace::Track track_;
    double last_ = 0;
};

}  // namespace hocket::transfer
