// SPDX-License-Identifier: BSD-3-Clause
// The thread pool of the process. All rooms use it; none starts other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

namespace hocket::base {

/// The number of threads of a call whose caller sets none: HOCKET_THREADS, else the cores of this
/// process (its affinity mask). 1 on the simulated platform.
/// @throws Error if HOCKET_THREADS is not a number from 1 to `most_threads`.
int default_threads();

/// The largest number of threads of one call.
inline constexpr int most_threads = 1024;

/// `wanted` threads; 0 or less means `default_threads()`, and more than `most_threads` means
/// `most_threads`.
int resolve_threads(int wanted);

/// To wake threads takes some 20 us of the caller, and they begin 30 us later. A call does so at
/// once, or else when its first part has shown that the others take longer. Threads that are awake,
/// because a call has just ended, take part, unless they lost their cores to other processes.
enum class Wake { at_once, if_long };

namespace detail {
using PartFunction = void (*)(void* context, std::int64_t part);
void run_parts(int threads, std::int64_t parts, PartFunction function, void* context, Wake wake);
}  // namespace detail

/// Calls `function(part)` once for each part in [0, parts), on the calling thread and up to
/// `threads - 1` threads of the pool, in any order; returns when all have returned. The parts must
/// not wait for each other: with a busy pool, inside another part, or on the simulated platform
/// they run one after another. After an exception no further part begins; the first exception is
/// thrown here. The pool starts threads at first use, and again in a forked child.
template <class Function>
void parallel_for(int threads, std::int64_t parts, Function&& function, Wake wake = Wake::at_once) {
    using Callable = std::remove_reference_t<Function>;
    detail::run_parts(
        threads, parts,
        [](void* context, std::int64_t part) { (*static_cast<Callable*>(context))(part); },
        const_cast<void*>(static_cast<const void*>(std::addressof(function))), wake);
}

/// Threads with other work, which join each other's calls of `parallel_for` between two pieces of
/// that work. So a call gets more threads although no more exist.
class HelperThreads {
  public:
    /// `call` notifies them of a call to join, in the thread of the call.
    explicit HelperThreads(std::function<void()> call);
    ~HelperThreads();
    HelperThreads(const HelperThreads&) = delete;
    HelperThreads& operator=(const HelperThreads&) = delete;

    /// Whether another thread can join a call; never on the simulated platform.
    bool wanted() const;
    /// Works on one call until it has no parts left; false: there was no call.
    bool help();

  private:
    struct CallList;
    std::function<void()> call_;
    std::unique_ptr<CallList> board_;
    void run(int threads, std::int64_t parts, detail::PartFunction function, void* context);
    friend void detail::run_parts(int threads, std::int64_t parts, detail::PartFunction function,
                                  void* context, Wake wake);
};

/// While it lives, this thread's calls without a number of threads use `share` threads, so that
/// each of many concurrent callers has its share. With `helpers`, these calls use helper threads
/// instead of the pool's.
class ThreadShare {
  public:
    explicit ThreadShare(int threads, HelperThreads* helpers = nullptr);
    ~ThreadShare();
    ThreadShare(const ThreadShare&) = delete;
    ThreadShare& operator=(const ThreadShare&) = delete;

  private:
    int before_;
    HelperThreads* helpers_before_;
};

/// Threads of the pool with a long task: each calls `serve(number)` once, with numbers from 0 on,
/// and then returns to the pool. `serve` must not throw. The pool replaces them. If the machine
/// allows fewer threads (none on the simulated platform), fewer serve at a time.
class ServiceThreads {
  public:
    ServiceThreads(int threads, std::function<void(int number)> serve);
    /// Waits until all serving threads have returned; no other begins.
    ~ServiceThreads();
    ServiceThreads(const ServiceThreads&) = delete;
    ServiceThreads& operator=(const ServiceThreads&) = delete;

  private:
    struct State;
    std::unique_ptr<State> lent_;
};

}  // namespace hocket::base
