// SPDX-License-Identifier: BSD-3-Clause
#include "base/pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/platform.hpp"
#include "base/region.hpp"
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
void detail::run_parts(int, std::int64_t parts, PartFunction function, void* context, Wake) {
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

class Pool {
    /// Between two calls: so long, threads stay awake, or as long as the call has taken.
    static constexpr std::chrono::nanoseconds in_a_row{10'000}, longest_row{100'000};
    /// The time from which calls in a row wake threads. If one has to be woken, two take 30 us more
    /// than half of what one takes.
    static constexpr std::chrono::microseconds worth_waking{250};
    /// After a wait for a thread that has lost its core, short calls stay on their own thread.
    static constexpr std::chrono::nanoseconds lost_core{50'000}, crowded_for{10'000'000};

  public:
    void run(int threads, std::int64_t parts, detail::PartFunction function, void* context,
             Wake wake) {
        const auto begun = now();
        if (begun - time(ended_) > in_a_row) set(row_begun_, begun);
        const bool crowded = begun < time(crowded_until_);
        bool wakes = wake == Wake::at_once;
        std::int64_t first = 0;
        if (!wakes && (crowded || awake_.load() < std::min<std::int64_t>(threads, parts) - 1)) {
            function(context, first++);
            const auto others = (now() - begun) * (parts - first);
            wakes = !crowded && begun - time(row_begun_) + others >= worth_waking;
            if (crowded || (!wakes && awake_.load() == 0))
                while (first < parts) function(context, first++);
        }
        if (parts - first > 1) {
            const auto worked = run_open(open_, threads, first, parts, function, context,
                                         [&](Region& region) { add(region, wakes); });
            if (now() - worked > std::max(worked - begun, lost_core))
                set(crowded_until_, now() + crowded_for);
        } else if (first < parts) {
            function(context, first);
        }
        set(ended_, now());
    }

    /// Returns at once; the caller does not take part.
    void lend(Region& region) {
        region.guard = &open_.guard;
        add(region, true);
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
    using Time = std::atomic<std::int64_t>;

    static std::chrono::nanoseconds now() {
        return std::chrono::steady_clock::now().time_since_epoch();
    }
    static std::chrono::nanoseconds time(const Time& at) {
        return std::chrono::nanoseconds(at.load(std::memory_order_relaxed));
    }
    static void set(Time& at, std::chrono::nanoseconds to) {
        at.store(to.count(), std::memory_order_relaxed);
    }

    void add(Region& region, bool wakes) {
        const int wanted = region.places;
        {
            const std::unique_lock lock = taken(open_.guard);
            if (region.lent) lent_ += wanted;
            if (wakes) start_workers(lent_ + (region.lent ? 0 : wanted));
            if (wakes && !region.lent) keep_off();
            open_.add(region);
        }
        if (!wakes) return;
        if (wanted > 1)
            work_.notify_all();
        else
            work_.notify_one();
    }
    void start_workers(int wanted) {
        while (static_cast<int>(workers_.size()) < wanted) {
            workers_.push_back(std::make_unique<Worker>());
            try {
                std::thread(&Pool::serve, this, std::ref(*workers_.back())).detach();
            } catch (const std::system_error&) {
                workers_.pop_back();
                return;  // the machine allows no more threads: the caller does the work alone
            }
        }
    }
    /// The kernel often wakes a thread on the core of its caller, who has work for longer than the
    /// call takes, and leaves it there for milliseconds.
    void keep_off() {
        for (const auto& worker : workers_)
            if (worker->asleep > 0 && worker->kept_off < 0)
                worker->kept_off = platform::keep_off(worker->asleep);
    }

    /// A thread of the pool; guarded by the mutex.
    struct Worker {
        int asleep = 0;  // its number while it waits to be woken
        int kept_off = -1;
    };

    [[noreturn]] void serve(Worker& self) {
        const int number = platform::thread_number();
        std::chrono::nanoseconds took{0};  // by its last call
        std::unique_lock lock(open_.guard);
        for (;;) {
            if (!open_.any()) {
                lock.unlock();  // another phase of one kernel may follow, or another call
                ++awake_;
                spin(std::clamp(took, in_a_row, longest_row), [this] { return open_.any(); });
                --awake_;
                take(lock);
            }
            self.asleep = number;
            work_.wait(lock, [&] { return open_.any(); });
            self.asleep = 0;
            if (self.kept_off >= 0) platform::allow_again(std::exchange(self.kept_off, -1));
            const auto begun = now();
            open_.join(lock);
            took = now() - begun;
        }
    }

    Open open_;
    std::condition_variable work_;
    std::vector<std::unique_ptr<Worker> > workers_;
    int lent_ = 0;                                     // number of workers that serve for long
    std::atomic<int> awake_{0};                        // number of workers that spin
    Time ended_{0}, row_begun_{0}, crowded_until_{0};  // of the last call, and of calls in a row
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

void detail::run_parts(int threads, std::int64_t parts, PartFunction function, void* context,
                       Wake wake) {
    threads = resolve_threads(threads);
    if (threads == 1 || parts <= 1) {
        for (std::int64_t part = 0; part < parts; ++part) function(context, part);
        return;
    }
    if (share_of != nullptr && threads <= share)
        share_of->run(threads, parts, function, context);
    else
        pool().run(threads, parts, function, context, wake);
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
    run_open(board_->open, threads, 0, parts, function, context, [&](Region& region) {
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
    region.left = threads;
    region.lent = true;
    lent_->from.lend(region);
}

ServiceThreads::~ServiceThreads() {
    lent_->region.left.store(0);
    lent_->from.take_back(lent_->region, lent_->threads);
}

#endif

}  // namespace hocket::base
