// SPDX-License-Identifier: BSD-3-Clause
// Steps on stacks of their own, which pause in blocking functions of MPI.
#pragma once

#include <mpi.h>

#include <functional>

namespace hocket::blocking {

/// Whether this thread runs a step on a stack of its own now, not a step within one of its waits.
bool in_step();

/// Pauses the step until `complete` returns true, and runs other steps meanwhile. Whoever drives
/// the flow's communication calls `complete`, which must not block; it may use the step's stack.
void pause_until(const std::function<bool()>& complete);

/// Calls a function of MPI while no other thread is within hocket or in one of these calls.
int with_turn(const std::function<int()>& call);

/// Pauses until all such steps inserted before this one have ended: collective operations begin in
/// the order of insertion.
void wait_for_turn_of_collectives();

/// Says once a step that this call has blocked a worker for so many seconds.
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
