// SPDX-License-Identifier: BSD-3-Clause
// Calls of MPI in steps.
#pragma once

#include <mpi.h>

#include <string>

#include "hocket/binding.hpp"
#include "hocket/operation.hpp"

namespace hocket::blocking {

/// A call of MPI as an operation. `poll`: returns true once it is done.
template <class Poll>
class MpiCall final : public Operation {
  public:
    explicit MpiCall(Poll& poll) : poll_(poll) {}
    bool poll() override { return poll_(); }
    std::string text() const override { return "a call of MPI"; }

  private:
    Poll& poll_;
};

/// Waits in the step until `test(&done)` sets `done` or fails; its result. Calls of MPI take turns
/// with hocket's own.
template <class Test>
int wait_in_step(Test&& test) {
    int result = MPI_SUCCESS, done = 0;
    const auto over = [&] {
        result = test(&done);
        return done != 0 || result != MPI_SUCCESS;
    };
    MpiCall call(over);
    if (!hocket::poll(call)) flow::pause_for(call);
    return result;
}

/// Says once a step that this call has blocked its worker for so many seconds.
class BlockedCall {
  public:
    explicit BlockedCall(const char* call);
    ~BlockedCall();
    BlockedCall(const BlockedCall&) = delete;
    BlockedCall& operator=(const BlockedCall&) = delete;

  private:
    const char* call_;
    double began_;
};

}  // namespace hocket::blocking
