// SPDX-License-Identifier: BSD-3-Clause
// The one thread pool of the process. Rooms ask it for help; none starts threads of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

namespace hocket::base {

/// How many threads a call uses when its caller does not say: HOCKET_THREADS if that is set, else
/// the cores this process may run on (its affinity mask). 1 on the simulated port.
/// @throws Error if HOCKET_THREADS is not a number from 1 to `most_threads`.
int default_threads();

/// The most threads that one call may ask for.
inline constexpr int most_threads = 1024;

/// `wanted` threads as a caller gave them: 0 or less means `default_threads()`; more than
/// `most_threads` is cut to it.
int resolve_threads(int wanted);

namespace detail {
using PartFunction = void (*)(void* context, std::int64_t part);
void run_parts(int threads, std::int64_t parts, PartFunction function, void* context);
}  // namespace detail

/// Calls `function(part)` once for each part in [0, parts), on the calling thread and up to
/// `threads - 1` threads of the pool, in no particular order; returns when all have returned.
/// The parts must not wait for each other: with a busy pool, inside another part, or on the
/// simulated port they run one after another. The first exception ends the handing out of parts
/// and is thrown here. Threads are started at first use, and again in a forked child.
template <class Function>
void parallel_for(int threads, std::int64_t parts, Function&& function) {
    using Callable = std::remove_reference_t<Function>;
    detail::run_parts(
        threads, parts,
        [](void* context, std::int64_t part) { (*static_cast<Callable*>(context))(part); },
        const_cast<void*>(static_cast<const void*>(std::addressof(function))));
}

/// Threads that have work of their own, and join each other's calls of `parallel_for` between two
/// pieces of it: so a call gets more threads without more of them being there.
class HelperThreads {
  public:
    /// `call` is told that there is a call to join, by the thread that makes it.
    explicit HelperThreads(std::function<void()> call);
    ~HelperThreads();
    HelperThreads(const HelperThreads&) = delete;
    HelperThreads& operator=(const HelperThreads&) = delete;

    /// Whether a call has room for one more; never on the simulated port.
    bool wanted() const;
    /// Joins one until no parts of it are left; false: there was none.
    bool help();

  private:
    struct CallList;
    std::function<void()> call_;
    std::unique_ptr<CallList> board_;
    void run(int threads, std::int64_t parts, detail::PartFunction function, void* context);
    friend void detail::run_parts(int threads, std::int64_t parts, detail::PartFunction function,
                                  void* context);
};

/// For as long as it lives, calls of this thread use so many threads when their callers do not say:
/// where many threads call at once, each has its share. With `helpers`, calls that want no more
/// than the share get those instead of threads of the pool.
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

/// Threads of the pool that are lent out for long: each calls `serve(number)` once, with numbers
/// from 0 on, and returns to the pool after it. `serve` throws nothing. The pool has as many others
/// as before. Where the machine gives fewer threads (none on the simulated port), fewer serve at a
/// time.
class ServiceThreads {
  public:
    ServiceThreads(int threads, std::function<void(int number)> serve);
    /// Waits until all that have begun to serve have returned; no other begins.
    ~ServiceThreads();
    ServiceThreads(const ServiceThreads&) = delete;
    ServiceThreads& operator=(const ServiceThreads&) = delete;

  private:
    struct State;
    std::unique_ptr<State> lent_;
};

}  // namespace hocket::base
