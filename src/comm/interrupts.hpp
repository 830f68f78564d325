// SPDX-License-Identifier: BSD-3-Clause
// What a thread that waits, or works for long, owes to the world outside.
#pragma once

#include <mutex>

namespace hocket::comm {

/// Seconds between two looks.
inline constexpr double between_checks = 20e-3;

/// Some milliseconds late at most, for a fraction of what a look at the clock costs.
double coarse_seconds();

/// Heeds Ctrl-C, and SIGUSR1, which prints the pending waits; writes what was traced. @throws what
/// the interrupt check throws.
void check_interrupts();

/// The same some times a second, of calls that may come every fraction of a microsecond.
class InterruptCheck {
  public:
    InterruptCheck();
    /// @throws as check_interrupts
    void check();

  private:
    double next_;
};

/// While one lives, this thread does without the interpreter's lock, if it had it.
class InterpreterUnlocked {
  public:
    InterpreterUnlocked();
    ~InterpreterUnlocked();
    InterpreterUnlocked(const InterpreterUnlocked&) = delete;
    InterpreterUnlocked& operator=(const InterpreterUnlocked&) = delete;

  private:
    void (*take_back_)(void*);
    void* held_ = nullptr;
};

/// Locks what may be held while operations are polled. Those written for an interpreter run under
/// its lock, which therefore comes last: who has it does without while it waits here.
template <class Mutex>
[[nodiscard]] std::unique_lock<Mutex> lock_before_interpreter(Mutex& mutex) {
    std::unique_lock<Mutex> lock(mutex, std::try_to_lock);
    if (!lock.owns_lock()) {
        const InterpreterUnlocked unlocked;
        lock.lock();
    }
    return lock;
}

}  // namespace hocket::comm
