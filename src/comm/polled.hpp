// SPDX-License-Identifier: BSD-3-Clause
// An operation of the library for a program that polls it at any time, on any thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "comm/engine.hpp"

namespace hocket::comm {

class Polled final : public Operation {
  public:
    explicit Polled(std::shared_ptr<Operation> call) : call_(std::move(call)) {}
    bool poll() override {
        const EngineLock engine_lock;
        return call_->poll();
    }
    std::string text() const override { return call_->text(); }

  private:
    std::shared_ptr<Operation> call_;
};

}  // namespace hocket::comm
