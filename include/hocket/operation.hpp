// SPDX-License-Identifier: BSD-3-Clause
// Anything that can be polled until it is done, and the one wait.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "hocket/error.hpp"

namespace hocket {

/// Something that is under way. Every request is one.
class Operation {
  public:
    Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    virtual ~Operation() = default;

    /// Makes what progress it can without blocking; true once done. @throws what went wrong.
    virtual bool poll() = 0;
    /// Nobody polls it for now, as what waited for it was given up. True where nothing then goes on
    /// that must come to its end, since what it looks at is somebody else's.
    virtual bool leave() { return false; }
    /// What a process that waits for it waits for, as a clause: "receive of A from task 'rows'".
    virtual std::string text() const = 0;
};

/// The moment at which a wait gives up.
class Deadline {
  public:
    Deadline() = default;  ///< never
    /// `timeout` seconds from now; nullopt: never. @throws Error if negative or NaN.
    static Deadline in(std::optional<double> timeout);

    bool passed() const;
    bool limited() const { return at_ < std::numeric_limits<double>::infinity(); }
    double timeout() const { return timeout_; }  ///< as it was asked for, seconds
    /// The same timeout, counted from `seconds` later.
    Deadline later(double seconds) const {
        Deadline deadline = *this;
        deadline.at_ += seconds;
        return deadline;
    }

  private:
    double at_ = std::numeric_limits<double>::infinity();
    double timeout_ = std::numeric_limits<double>::infinity();
};

/// Polls `operation`, and everything else that this process has under way, until it is done:
/// spins, then yields, then sleeps. A deadline ends the wait, not the operation.
/// @throws DeadlineError at the deadline, and whatever the operation throws; PeerLostError, naming
/// it, within about a second of the end of a process of this host that this one has met in a
/// collective call: no wait can count on the rest of the program then.
void wait(Operation& operation, Deadline deadline = {});

/// Polls `operation` once, and everything else that this process has under way; true once it is
/// done. Threads that do so take turns, with each other and with those that wait. @throws Error
/// where this thread may not communicate now, and whatever the operation throws.
bool poll(Operation& operation);

/// `check` is called some times a second by every wait and ends it by throwing (a language
/// binding's Ctrl-C). nullptr: none.
void set_interrupt_check(void (*check)());

/// The waits that this process is in, a line each.
std::string pending_waits();
/// From here on SIGUSR1 prints `pending_waits` to stderr; who handled it before hears it still.
/// The first wait does it, too.
void report_on_signal();

}  // namespace hocket
