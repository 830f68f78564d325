// SPDX-License-Identifier: BSD-3-Clause
// Back-off between two polls of memory that others change: spin, yield, sleep. All waits use it.
#pragma once

#include "base/platform.hpp"

namespace hocket::base {

/// Lets other threads run. A yield puts the thread behind all that want the core, for a time slice
/// each, which is milliseconds if other programs compute; a sleeping thread runs again sooner. So
/// after a slow yield this function sleeps, until several sleeps have ended in time. Returns false
/// while it sleeps.
bool yield_or_sleep();

/// First spins, because events within the node take microseconds; then yields; then sleeps, so that
/// a long wait takes no processor time.
class Backoff {
  public:
    enum class Stage { spin, yield, sleep };

    /// `crowded`: more threads than cores, so that spinning delays the awaited one. `yielding`:
    /// seconds after the spins before it sleeps.
    explicit Backoff(bool crowded, double yielding = 5e-3)
        : spins_(platform::simulated ? 0
                 : crowded           ? 1
                                     : 2000),
          yielding_(yielding) {}

    /// After a poll without success: the action before the next one. Call it once a poll.
    Stage next();
    /// Seconds on the platform's clock, at a poll after the spins.
    double now() const { return now_; }
    /// Executes the action of `next`; in simulation a sleep is `wakeup::sleep`.
    void pause(Stage stage) const;
    /// After a change: starts with spins again.
    void reset() { polls_ = 0; }

  private:
    const int spins_;
    const double yielding_;
    int polls_ = 0;
    double now_ = 0, began_ = 0, sleep_at_ = 0;
};

}  // namespace hocket::base
