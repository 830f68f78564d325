// SPDX-License-Identifier: BSD-3-Clause
// What a thread that waits, or works for long, owes to the world outside.
#pragma once

#include <mutex>

#include "hocket/operation.hpp"

namespace hocket::comm {

/// The beginning of a wait, within a turn of the engine: polls for a fraction of a microsecond
/// without pause, because flags in shared memory arrive as fast, before any set-up for a longer
/// wait. True if the operation has completed.
bool done_soon(Operation& operation);

/// Seconds between two looks.
inline constexpr double between_checks = 20e-3;

/// Some milliseconds late at most, for a fraction of what a look at the clock costs.
double coarse_seconds();

/// Checks for Ctrl-C, and for SIGUSR1, which prints the pending waits; writes the trace. @throws
/// the error of the interrupt check.
void check_interrupts();

/// As check_interrupts, some times a second, for calls that may come every fraction of a
/// microsecond.
class InterruptCheck {
  public:
    InterruptCheck();
    /// @throws as check_interrupts
    void check();

  private:
    double next_;
};

/// While it lives, this thread has released the interpreter's lock, if it had it.
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

/// Locks a mutex that may be held while operations are polled. Operations of an interpreter run
/// under its lock, which must therefore be acquired last: a thread that has it releases it while it
/// waits here.
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
