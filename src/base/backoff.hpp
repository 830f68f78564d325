// SPDX-License-Identifier: BSD-3-Clause
// What to do between two looks at something that others change: the one ladder of the waits.
#pragma once

#include "base/platform.hpp"

namespace hocket::base {

/// Lets other threads run: a yield. It puts the thread behind all that want the core, for a time
/// slice of each, which is milliseconds where other programs compute; who naps is let in sooner. So
/// after a yield that took long it is naps, until some have ended in time. False while it is.
bool yield_or_sleep();

/// First it spins, as what is near comes within microseconds; then it lets others run; then it
/// sleeps, so that a long wait costs no one.
class Backoff {
  public:
    enum class Stage { spin, yield, sleep };

    /// `crowded`: more threads than cores, so that spinning takes time from the one that is waited
    /// for. `yielding`: seconds after the spins before it sleeps.
    explicit Backoff(bool crowded, double yielding = 5e-3)
        : spins_(platform::simulated ? 0
                 : crowded           ? 1
                                     : 2000),
          yielding_(yielding) {}

    /// After a look in vain: what comes before the next. Each call is one look.
    Stage next();
    /// Seconds on the port's clock, of a look after the spins.
    double now() const { return now_; }
    /// Does what a look found to do; a nap where that is sleep; in simulation `wakeup::sleep`.
    void pause(Stage stage) const;
    /// Something has changed: from the start again.
    void reset() { polls_ = 0; }

  private:
    const int spins_;
    const double yielding_;
    int polls_ = 0;
    double now_ = 0, began_ = 0, sleep_at_ = 0;
};

}  // namespace hocket::base
