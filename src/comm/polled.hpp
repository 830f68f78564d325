// SPDX-License-Identifier: BSD-3-Clause
// Operations made of functions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "comm/engine.hpp"

namespace hocket::comm {

class FunctionOperation final : public Operation {
  public:
    FunctionOperation(std::function<bool()> poll, std::function<std::string()> text)
        : poll_(std::move(poll)), text_(std::move(text)) {}
    bool poll() override { return poll_(); }
    std::string text() const override { return text_(); }

  private:
    std::function<bool()> poll_;
    std::function<std::string()> text_;
};

/// An operation of the library for a program that polls it at any time, on any thread.
inline std::shared_ptr<Operation> polled(std::shared_ptr<Operation> call) {
    const auto poll = [call] {
        const EngineLock engine_lock;
        return call->poll();
    };
    return std::make_shared<FunctionOperation>(poll, [call] { return call->text(); });
}

}  // namespace hocket::comm
