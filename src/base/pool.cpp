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
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/port.hpp"
#include "hocket/error.hpp"

namespace hocket::base {
namespace {

thread_local int share = 0;  // 0: no limit of this thread's own

}  // namespace

Share::Share(int threads) : before_(std::exchange(share, threads)) {}
Share::~Share() {
    share = before_;
}

int default_threads() {
#ifdef HOCKET_SIMULATED
    return 1;
#else
    if (share > 0) return share;
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

struct Crew::Lent {};
Crew::Crew(int, std::function<void(int)>) {}
Crew::~Crew() = default;

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
    std::mutex* guard = nullptr;
    bool lent = false;  // to a crew

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
            open(region, wanted);
        }
        call_workers(wanted);
        region.work();
        std::unique_lock lock(mutex_);
        close(region);
        done_.wait(lock, [&] { return region.inside == 0; });
        if (region.error) std::rethrow_exception(region.error);
    }

    /// Without help of the caller's, and without waiting for it.
    void lend(Region& region) {
        const int wanted = region.places;
        region.guard = &mutex_;
        {
            const std::lock_guard lock(mutex_);
            lent_ += wanted;
            open(region, wanted);
        }
        call_workers(wanted);
    }
    void take_back(Region& region, int wanted) {
        std::unique_lock lock(mutex_);
        close(region);
        done_.wait(lock, [&] { return region.inside == 0; });
        lent_ -= wanted;
    }

    /// fork() must not copy a locked mutex into the child.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

  private:
    void open(Region& region, int wanted) {
        start_workers(lent_ + (region.lent ? 0 : wanted));
        open_.push_back(&region);
        waiting_.fetch_add(1, std::memory_order_release);
    }
    void call_workers(int wanted) {
        if (wanted > 1)
            work_.notify_all();
        else
            work_.notify_one();
    }
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
    int lent_ = 0;  // of the workers, those that serve for long
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

struct Crew::Lent {
    std::function<void(int)> serve;
    int threads;
    Pool& from;
    Region region;
};

Crew::Crew(int threads, std::function<void(int)> serve)
    : lent_(new Lent{std::move(serve), threads, pool(), {}}) {
    Region& region = lent_->region;
    region.function = [](void* context, std::int64_t part) {
        static_cast<Lent*>(context)->serve(static_cast<int>(part));
    };
    region.context = lent_.get();
    region.parts = region.places = threads;
    region.lent = true;
    lent_->from.lend(region);
}

Crew::~Crew() {
    lent_->region.next.store(lent_->threads);
    lent_->from.take_back(lent_->region, lent_->threads);
}

#endif

}  // namespace hocket::base
