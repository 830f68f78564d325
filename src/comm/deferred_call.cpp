// SPDX-License-Identifier: BSD-3-Clause
#include "comm/deferred_call.hpp"

#include <utility>

#include "comm/engine.hpp"
#include "hocket/error.hpp"

namespace hocket::comm {

DeferredCall::DeferredCall(std::shared_ptr<Activity> call, std::shared_ptr<StartGate> gate)
    : call_(std::move(call)), gate_(std::move(gate)) {}

DeferredCall::~DeferredCall() {
    if (gate_->open) return;
    gate_->fault = {"Error", call_->text() + ": this call was given up before it began"};
    gate_->open = true;
    Engine::instance().post(call_);
}

void DeferredCall::begin() {
    if (gate_->open) throw Error(call_->text() + ": it was started before");
    gate_->open = true;
    Engine::instance().add(call_);
}

bool DeferredCall::poll() {
    gate_->open = true;
    return call_->poll();
}

}  // namespace hocket::comm
