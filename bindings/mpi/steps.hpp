// SPDX-License-Identifier: BSD-3-Clause
// Calls of MPI in steps.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

#include "hocket/flow_body.hpp"
#include "hocket/operation.hpp"

namespace hocket::blocking {

/// Calls a function of MPI while no other thread is within hocket or in one of these calls.
int with_turn(const std::function<int()>& call);

/// Pauses the step until `test` returns true.
template <class Test>
void pause_until(Test& test) {
    class Tested final : public Operation {
      public:
        explicit Tested(Test& its) : test_(its) {}
        bool poll() override { return test_(); }
        std::string text() const override { return "a call of MPI"; }

      private:
        Test& test_;
    };
    Tested tested(test);
    flow::pause_for(tested);
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
