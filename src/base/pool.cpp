// SPDX-License-Identifier: BSD-3-Clause
#include "base/pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/environment.hpp"
#include "base/port.hpp"
#include "hocket/error.hpp"

namespace hocket::base {

int default_threads() {
#ifdef HOCKET_SIMULATED
    return 1;
#else
    // Read anew each time: it costs less than a microsecond, and the affinity mask may be narrowed
    // after the library was loaded (launchers and job schedulers do that).
    const auto wanted =
        environment::number("HOCKET_THREADS", 1, most_threads, "a number of threads");
    return wanted ? static_cast<int>(*wanted) : std::clamp(port::cores(), 1, most_threads);
#endif
}

int resolve_threads(int wanted) {
    return wanted <= 0 ? default_threads() : std::min(wanted, most_threads);
}

#ifdef HOCKET_SIMULATED

// Simulated processes share one OS process and are scheduled by the simulator: real threads would
// run outside its clock.
void detail::run_parts(int, std::int64_t parts, PartFunction function, void* context) {
    for (std::int64_t part = 0; part < parts; ++part) function(context, part);
}

#else

namespace {

/// One call of `parallel_for` while it runs; lives on the caller's stack.
struct Region {
    detail::PartFunction function;
    void* context;
    std::int64_t parts;
    int places;  // how many more pool threads may still join; guarded by the pool's mutex
    std::atomic<std::int64_t> next{0};
    int inside = 0;              // pool threads working on it; guarded by the pool's mutex
    std::exception_ptr error{};  // the first one; guarded by the pool's mutex
    std::mutex* guard;

    void work() {
        for (;;) {
            const std::int64_t part = next.fetch_add(1, std::memory_order_relaxed);
            if (part >= parts) return;
            try {
                function(context, part);
            } catch (...) {
                const std::lock_guard lock(*guard);
                if (!error) error = std::current_exception();
                next.store(parts, std::memory_order_relaxed);
            }
        }
    }
};

class Pool {
  public:
    void run(int threads, std::int64_t parts, detail::PartFunction function, void* context) {
        Region region{.function = function,
                      .context = context,
                      .parts = parts,
                      .places = static_cast<int>(std::min<std::int64_t>(threads, parts)) - 1,
                      .guard = &mutex_};
        const int wanted = region.places;
        {
            const std::lock_guard lock(mutex_);
            start_workers(wanted);
            open_.push_back(&region);
            waiting_.fetch_add(1, std::memory_order_release);
        }
        if (wanted > 1)
            work_.notify_all();
        else
            work_.notify_one();
        region.work();
        std::unique_lock lock(mutex_);
        close(region);
        done_.wait(lock, [&] { return region.inside == 0; });
        if (region.error) std::rethrow_exception(region.error);
    }

    /// fork() must not copy a locked mutex into the child.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

  private:
    void start_workers(int wanted) {
        while (workers_ < wanted) {
            try {
                std::thread(&Pool::serve, this).detach();
            } catch (const std::system_error&) {
                return;  // the machine gives no more threads: the caller does the work alone
            }
            ++workers_;
        }
    }

    void close(Region& region) {
        const auto found = std::find(open_.begin(), open_.end(), &region);
        if (found == open_.end()) return;
        open_.erase(found);
        waiting_.fetch_sub(1, std::memory_order_release);
    }

    /// A short spin saves the wake-up (some 50 us in a virtual machine) between the phases of one
    /// kernel; longer would steal time from the processes that share these cores.
    void spin() {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
        while (waiting_.load(std::memory_order_acquire) == 0 &&
               std::chrono::steady_clock::now() < end) {
            port::pause();
        }
    }

    [[noreturn]] void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            if (open_.empty()) {
                lock.unlock();
                spin();
                lock.lock();
            }
            work_.wait(lock, [&] { return !open_.empty(); });
            Region& region = *open_.front();
            if (--region.places == 0) close(region);
            ++region.inside;
            lock.unlock();
            region.work();
            lock.lock();
            close(region);  // no parts are left to hand out
            if (--region.inside == 0) done_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable work_, done_;
    std::vector<Region*> open_;    // regions that more threads may join
    std::atomic<int> waiting_{0};  // == open_.size(), readable without the mutex
    int workers_ = 0;
};

Pool* current_pool = nullptr;  // never destroyed: its threads outlive every static destructor

Pool& pool() {
    static std::once_flag once;
    std::call_once(once, [] {
        current_pool = new Pool;
        // A child has none of its parent's threads: it begins with an empty pool.
        pthread_atfork([] { current_pool->lock(); }, [] { current_pool->unlock(); },
                       [] {
                           current_pool->unlock();
                           current_pool = new Pool;
                       });
    });
    return *current_pool;
}

}  // namespace

void detail::run_parts(int threads, std::int64_t parts, PartFunction function, void* context) {
    threads = resolve_threads(threads);
    if (threads == 1 || parts <= 1) {
        for (std::int64_t part = 0; part < parts; ++part) function(context, part);
        return;
    }
    pool().run(threads, parts, function, context);
}

#endif

}  // namespace hocket::base
