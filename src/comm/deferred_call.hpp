// SPDX-License-Identifier: BSD-3-Clause
// Collective calls that take their place among the others now, and begin when a program says so.
#pragma once

#include <memory>
#include <string>

#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "hocket/operation.hpp"

namespace hocket::comm {

/// Keeps a call from beginning, for as long as it is closed.
struct StartGate {
    bool open = false;
    Fault fault = {};  // why the call is not to be made after all
};

/// A call that is to begin later; its protocol looks at the gate. Dropped before, it begins as one
/// that this process cannot make: other calls wait behind it, and other processes for it.
class DeferredCall final : public Operation {
  public:
    DeferredCall(std::shared_ptr<Activity> call, std::shared_ptr<StartGate> gate);
    ~DeferredCall() override;
    DeferredCall(const DeferredCall&) = delete;
    DeferredCall& operator=(const DeferredCall&) = delete;

    /// From now on the engine polls it. @throws Error the second time. The caller holds the turn.
    void begin();
    bool begun() const { return gate_->open; }
    /// Begins it, if nothing has, in the hands of whoever polls.
    bool poll() override;
    std::string text() const override { return call_->text(); }

  private:
    std::shared_ptr<Activity> call_;
    std::shared_ptr<StartGate> gate_;
};

}  // namespace hocket::comm
