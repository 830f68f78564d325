// SPDX-License-Identifier: BSD-3-Clause
// Collective calls that take their position among the others now, and begin later.
#pragma once

#include <memory>
#include <string>

#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "hocket/operation.hpp"

namespace hocket::comm {

/// Keeps a call from beginning while it is closed.
struct StartGate {
    bool open = false;
    Fault fault = {};  // the reason if the call is not made after all
};

/// A call that begins later; its protocol polls the gate. If it is dropped before, it begins as a
/// call that this process cannot make, because other calls wait behind it, and other processes wait
/// for it.
class DeferredCall final : public Operation {
  public:
    DeferredCall(std::shared_ptr<Activity> call, std::shared_ptr<StartGate> gate);
    ~DeferredCall() override;
    DeferredCall(const DeferredCall&) = delete;
    DeferredCall& operator=(const DeferredCall&) = delete;

    /// From now on the engine polls it. @throws Error the second time. The caller holds the turn.
    void begin();
    bool begun() const { return gate_->open; }
    /// Begins it, if nothing has, in the polling thread.
    bool poll() override;
    std::string text() const override { return call_->text(); }

  private:
    std::shared_ptr<Activity> call_;
    std::shared_ptr<StartGate> gate_;
};

}  // namespace hocket::comm
