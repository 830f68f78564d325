// SPDX-License-Identifier: BSD-3-Clause
// Operations, which anyone can poll until they complete, and the wait for them.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "hocket/error.hpp"

namespace hocket {

/// Default options of calls whose result a coroutine awaits: no temporary, because of the error of
/// g++ 12 that coroutine.hpp describes.
template <class Options>
inline const Options default_options{};

/// Something under way. Every request is an operation.
class Operation {
  public:
    Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    virtual ~Operation() = default;

    /// Makes progress without blocking; true once complete. @throws the error of the operation.
    virtual bool poll() = 0;
    /// The waiting call has given up, so nothing polls this operation for now. Returns true if no
    /// part of the operation must still complete, because the operation only watches something that
    /// has another owner.
    virtual bool leave() { return false; }
    /// Completes the clause "waiting for …": "receive of A from task 'rows'".
    virtual std::string text() const = 0;
};

/// The time at which a wait gives up.
class Deadline {
  public:
    Deadline() = default;  ///< never
    /// `timeout` seconds from now; nullopt: never, or what a binding has set for this thread.
    /// @throws Error if negative or NaN.
    static Deadline in(std::optional<double> timeout);

    bool passed() const;
    bool limited() const { return at_ < std::numeric_limits<double>::infinity(); }
    double timeout() const { return timeout_; }  ///< seconds, as the caller gave them
    double left() const;                         ///< seconds from now, at least 0
    /// The earlier one.
    Deadline sooner(const Deadline& other) const { return other.at_ < at_ ? other : *this; }
    /// The same timeout, counted from `seconds` later on.
    Deadline later(double seconds) const {
        Deadline deadline = *this;
        deadline.at_ += seconds;
        return deadline;
    }

  private:
    double at_ = std::numeric_limits<double>::infinity();
    double timeout_ = std::numeric_limits<double>::infinity();
};

/// Polls `operation`, and everything else that this process has under way, until `operation`
/// completes: spins, then yields, then sleeps. A deadline ends the wait, not the operation.
/// @throws DeadlineError at the deadline, and the error of the operation. PeerLostError about a
///         second after the end of a process of this host that this process has met in a collective
///         call, because no wait can rely on the program then; the message names that process.
void wait(Operation& operation, Deadline deadline = {});
/// Waits, in the same way, for the first of several operations. Returns its index. The index may be
/// that of an operation that has failed: the wait for it raises its error. @throws Error if there
/// is no operation; otherwise as `wait`.
std::size_t wait_any(std::span<const std::shared_ptr<Operation>> operations,
                     Deadline deadline = {});

/// Polls `operation`, and everything else that this process has under way, once; true once
/// `operation` is complete. Threads that poll take turns with each other and with threads that
/// wait. @throws Error if this thread may not communicate now, and the error of the operation.
bool poll(Operation& operation);

/// Every wait calls `check` several times a second. `check` ends the wait by throwing (Ctrl-C in a
/// language binding). nullptr: no check.
void set_interrupt_check(void (*check)());

/// The pending waits of this process, one line each.
std::string pending_waits();
/// Installs a handler of SIGUSR1 that prints `pending_waits` to stderr, and then calls the previous
/// handler. The first wait installs it, too.
void report_on_signal();

}  // namespace hocket
