// SPDX-License-Identifier: BSD-3-Clause
// Calls of `parallel_for` while they run, and how threads join them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include "base/platform.hpp"
#include "base/pool.hpp"

namespace hocket::base {

/// One call of `parallel_for` while it runs; lives on the caller's stack.
struct Region {
    detail::PartFunction function;
    void* context;
    std::int64_t first, parts;  // parts from `first` on
    int places;  // number of pool threads that may still join; guarded by the pool's mutex
    std::atomic<std::int64_t> left{parts - first};  // parts that nobody has taken
    std::atomic<std::int64_t> front{first}, back{parts};
    std::atomic<int> inside{0};  // pool threads working on it; changes under the pool's mutex
    std::exception_ptr error{};  // the first one; guarded by the pool's mutex
    std::mutex* guard = nullptr;
    bool lent = false;  // to helper threads

    /// The caller takes parts from the front, and the others from the back: if a call is repeated,
    /// most of its memory is in the cache of the core that takes it again.
    void work(bool caller) {
        while (left.fetch_sub(1, std::memory_order_relaxed) > 0) {
            const std::int64_t part = caller ? front.fetch_add(1, std::memory_order_relaxed)
                                             : back.fetch_sub(1, std::memory_order_relaxed) - 1;
            try {
                function(context, part);
            } catch (...) {
                const std::lock_guard lock(*guard);
                if (!error) error = std::current_exception();
                left.store(0, std::memory_order_relaxed);
            }
        }
    }
};

/// Until `done()`, or for so long: to wake a thread takes some 50 us in a virtual machine. After
/// 10 us, other threads and processes of this core go first.
template <class Done>
void spin(std::chrono::nanoseconds most, Done&& done) {
    constexpr std::chrono::microseconds alone{10};
    const auto begun = std::chrono::steady_clock::now();
    while (!done()) {
        const auto spent = std::chrono::steady_clock::now() - begun;
        if (spent > most) return;
        if (spent < alone)
            platform::pause();
        else
            platform::yield();
    }
}

/// Locks a mutex that others hold for some instructions only: a blocked thread would have to be
/// woken.
inline void take(std::unique_lock<std::mutex>& lock) {
    spin(std::chrono::microseconds(5), [&] { return lock.try_lock(); });
    if (!lock.owns_lock()) lock.lock();
}
inline std::unique_lock<std::mutex> taken(std::mutex& mutex) {
    std::unique_lock lock(mutex, std::defer_lock);
    take(lock);
    return lock;
}

/// The calls of `parallel_for` that more threads may join. `guard` is held as the comments say.
class Open {
  public:
    std::mutex guard;

    bool any() const { return count_.load() > 0; }
    /// Requires the guard.
    void add(Region& region) {
        regions_.push_back(&region);
        count_.fetch_add(1);
    }
    /// Requires the guard: works on the first call until it has no parts left.
    void join(std::unique_lock<std::mutex>& held) {
        Region& region = *regions_.front();
        if (--region.places == 0) close(region);
        ++region.inside;
        held.unlock();
        region.work(region.lent);
        take(held);
        close(region);  // no parts are left to hand out
        if (--region.inside == 0) done_.notify_all();
    }
    /// Waits until all threads that have joined have left; no others join.
    void end(std::unique_lock<std::mutex>& held, Region& region) {
        close(region);
        const auto left = [&] { return region.inside.load() == 0; };
        if (left()) return;
        held.unlock();  // the others end their last parts
        spin(std::chrono::microseconds(50), left);
        take(held);
        done_.wait(held, left);
    }

  private:
    void close(Region& region) {
        const auto found = std::find(regions_.begin(), regions_.end(), &region);
        if (found == regions_.end()) return;
        regions_.erase(found);
        count_.fetch_sub(1);
    }

    std::vector<Region*> regions_;
    std::atomic<int> count_{0};  // number of calls, readable without the guard
    std::condition_variable done_;
};

/// Runs the parts from `first` on, on the calling thread and those that join; `call` announces the
/// region. Returns the time at which the caller began to wait for the others.
template <class Call>
std::chrono::nanoseconds run_open(Open& open, int threads, std::int64_t first, std::int64_t parts,
                                  detail::PartFunction function, void* context, Call&& call) {
    Region region{.function = function,
                  .context = context,
                  .first = first,
                  .parts = parts,
                  .places = static_cast<int>(std::min<std::int64_t>(threads, parts - first)) - 1,
                  .guard = &open.guard};
    call(region);
    region.work(true);
    const auto worked = std::chrono::steady_clock::now().time_since_epoch();
    std::unique_lock lock = taken(open.guard);
    open.end(lock, region);
    if (region.error) std::rethrow_exception(region.error);
    return worked;
}

}  // namespace hocket::base
