// SPDX-License-Identifier: BSD-3-Clause
// Work on files in a thread of the pool, while the polling thread goes on.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "base/platform.hpp"
#include "base/pool.hpp"

namespace hocket::store {

/// One piece of work at a time; it must not throw.
class FileWork {
  public:
    /// Only after the last one is done. `apart`: in another thread; else here and now, and then the
    /// next poll returns false, so that one poll has no two pieces of work.
    void start(std::function<void()> work, bool apart) {
        if (!apart || platform::simulated) {
            pause_ = true;
            return work();
        }
        work_ = std::move(work);
        began_ = platform::seconds();
        claimed_ = false;
        done_ = false;
        thread_ = std::make_unique<base::ServiceThreads>(1, [this](int) { run(); });
    }
    bool poll() {
        if (std::exchange(pause_, false)) return false;
        // The machine may allow no more threads.
        if (!claimed_ && platform::seconds() - began_ > start_timeout) run();
        if (!done_) return false;
        thread_.reset();
        return true;
    }

  private:
    static constexpr double start_timeout = 0.05;  // seconds

    void run() {
        if (claimed_.exchange(true)) return;
        work_();
        done_ = true;
    }

    std::function<void()> work_;
    double began_ = 0;
    bool pause_ = false;
    std::atomic<bool> claimed_{true}, done_{true};
    std::unique_ptr<base::ServiceThreads> thread_;  // last: it ends before its data
};

}  // namespace hocket::store
