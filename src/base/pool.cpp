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
#include "base/platform.hpp"
#include "hocket/error.hpp"

namespace hocket::base {
namespace {

thread_local int share = 0;  // 0: this thread has no limit
thread_local HelperThreads* share_of = nullptr;

}  // namespace

ThreadShare::ThreadShare(int threads, HelperThreads* helpers)
    : before_(std::exchange(share, threads)), helpers_before_(std::exchange(share_of, helpers)) {}
ThreadShare::~ThreadShare() {
    share = before_;
    share_of = helpers_before_;
}

namespace {
const environment::ValidatedSetting checked([] { static_cast<void>(default_threads()); });
}

int default_threads() {
#ifdef HOCKET_SIMULATED
    return 1;
#else
    if (share > 0) return share;
    // Read each time: it costs less than a microsecond, and launchers and job schedulers may narrow
    // the affinity mask after the library was loaded.
    const auto wanted =
        environment::number("HOCKET_THREADS", 1, most_threads, "a number of threads");
    return wanted ? static_cast<int>(*wanted) : std::clamp(platform::cores(), 1, most_threads);
#endif
}

int resolve_threads(int wanted) {
    return wanted <= 0 ? default_threads() : std::min(wanted, most_threads);
}

#ifdef HOCKET_SIMULATED

// Simulated processes are threads of one process, which the simulator schedules: real threads would
// run outside its clock.
void detail::run_parts(int, std::int64_t parts, PartFunction function, void* context) {
    for (std::int64_t part = 0; part < parts; ++part) function(context, part);
}

struct ServiceThreads::State {};
ServiceThreads::ServiceThreads(int, std::function<void(int)>) {}
ServiceThreads::~ServiceThreads() = default;

struct HelperThreads::CallList {};
HelperThreads::HelperThreads(std::function<void()>) {}
HelperThreads::~HelperThreads() = default;
bool HelperThreads::wanted() const {
    return false;
}
bool HelperThreads::help() {
    return false;
}

#else

namespace {

/// One call of `parallel_for` while it runs; lives on the caller's stack.
struct Region {
    detail::PartFunction function;
    void* context;
    std::int64_t parts;
    int places;  // number of pool threads that may still join; guarded by the pool's mutex
    std::atomic<std::int64_t> next{0};
    int inside = 0;              // pool threads working on it; guarded by the pool's mutex
    std::exception_ptr error{};  // the first one; guarded by the pool's mutex
    std::mutex* guard = nullptr;
    bool lent = false;  // to helper threads

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
        region.work();
        held.lock();
        close(region);  // no parts are left to hand out
        if (--region.inside == 0) done_.notify_all();
    }
    /// Waits until all threads that have joined have left; no others join.
    void end(std::unique_lock<std::mutex>& held, Region& region) {
        close(region);
        done_.wait(held, [&] { return region.inside == 0; });
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

/// Runs on the calling thread and those that join; `open` has announced the region, with the guard
/// held.
template <class Call>
void run_open(Open& open, int threads, std::int64_t parts, detail::PartFunction function,
              void* context, Call&& call) {
    Region region{.function = function,
                  .context = context,
                  .parts = parts,
                  .places = static_cast<int>(std::min<std::int64_t>(threads, parts)) - 1,
                  .guard = &open.guard};
    call(region);
    region.work();
    std::unique_lock lock(open.guard);
    open.end(lock, region);
    if (region.error) std::rethrow_exception(region.error);
}

class Pool {
  public:
    void run(int threads, std::int64_t parts, detail::PartFunction function, void* context) {
        run_open(open_, threads, parts, function, context, [&](Region& region) { add(region); });
    }

    /// Returns at once; the caller does not take part.
    void lend(Region& region) {
        region.guard = &open_.guard;
        add(region);
    }
    void take_back(Region& region, int wanted) {
        std::unique_lock lock(open_.guard);
        open_.end(lock, region);
        lent_ -= wanted;
    }

    /// fork() must not copy a locked mutex into the child.
    void lock() { open_.guard.lock(); }
    void unlock() { open_.guard.unlock(); }

  private:
    void add(Region& region) {
        const int wanted = region.places;
        {
            const std::lock_guard lock(open_.guard);
            if (region.lent) lent_ += wanted;
            start_workers(lent_ + (region.lent ? 0 : wanted));
            open_.add(region);
        }
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
                return;  // the machine allows no more threads: the caller does the work alone
            }
            ++workers_;
        }
    }

    /// A short spin avoids the wake-up (some 50 us in a virtual machine) between the phases of one
    /// kernel; a longer one would take time from the processes on these cores.
    void spin() {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
        while (!open_.any() && std::chrono::steady_clock::now() < end) platform::pause();
    }

    [[noreturn]] void serve() {
        std::unique_lock lock(open_.guard);
        for (;;) {
            if (!open_.any()) {
                lock.unlock();
                spin();
                lock.lock();
            }
            work_.wait(lock, [&] { return open_.any(); });
            open_.join(lock);
        }
    }

    Open open_;
    std::condition_variable work_;
    int workers_ = 0;
    int lent_ = 0;  // number of workers that serve for long
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
    if (share_of != nullptr && threads <= share)
        share_of->run(threads, parts, function, context);
    else
        pool().run(threads, parts, function, context);
}

struct HelperThreads::CallList {
    Open open;
};
HelperThreads::HelperThreads(std::function<void()> call)
    : call_(std::move(call)), board_(new CallList) {}
HelperThreads::~HelperThreads() = default;

bool HelperThreads::wanted() const {
    return board_->open.any();
}

bool HelperThreads::help() {
    if (!wanted()) return false;
    std::unique_lock lock(board_->open.guard);
    if (!wanted()) return false;
    const ThreadShare one(1);  // for calls within parts
    board_->open.join(lock);
    return true;
}

void HelperThreads::run(int threads, std::int64_t parts, detail::PartFunction function,
                        void* context) {
    run_open(board_->open, threads, parts, function, context, [&](Region& region) {
        {
            const std::lock_guard lock(board_->open.guard);
            board_->open.add(region);
        }
        call_();
    });
}

struct ServiceThreads::State {
    std::function<void(int)> serve;
    int threads;
    Pool& from;
    Region region;
};

ServiceThreads::ServiceThreads(int threads, std::function<void(int)> serve)
    : lent_(new State{std::move(serve), threads, pool(), {}}) {
    Region& region = lent_->region;
    region.function = [](void* context, std::int64_t part) {
        static_cast<State*>(context)->serve(static_cast<int>(part));
    };
    region.context = lent_.get();
    region.parts = region.places = threads;
    region.lent = true;
    lent_->from.lend(region);
}

ServiceThreads::~ServiceThreads() {
    lent_->region.next.store(lent_->threads);
    lent_->from.take_back(lent_->region, lent_->threads);
}

#endif

}  // namespace hocket::base
