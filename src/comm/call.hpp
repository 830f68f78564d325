// SPDX-License-Identifier: BSD-3-Clause
// A protocol as an operation that others can poll and wait for.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "comm/engine.hpp"
#include "comm/protocol.hpp"
#include "hocket/operation.hpp"

namespace hocket::comm {

/// An operation that knows whether it has ended, however it did.
class Activity : public Operation {
  public:
    virtual bool ended() const = 0;
};

/// Ends with the protocol, or with MPI; what the protocol throws, every later poll throws again.
class Call final : public Activity {
  public:
    /// `text` is asked for only where somebody waits long for it, or is told of an error.
    Call(Protocol<> protocol, std::function<std::string()> text)
        : driven_(std::in_place, std::move(protocol)), text_(std::move(text)) {}
    Call(Protocol<> protocol, std::string text)
        : Call(std::move(protocol), [text = std::move(text)] { return text; }) {}

    bool poll() override {
        if (ended_) return outcome();
        try {
            require_not_ended();
            if (!driven_->poll()) return false;  // throws where a condition does
            driven_->take();
        } catch (...) {
            error_ = std::current_exception();
        }
        ended_ = true;
        driven_.reset();  // whoever still holds the call holds none of its arrays
        return outcome();
    }
    std::string text() const override { return text_(); }
    bool ended() const override { return ended_; }

  private:
    bool outcome() const {
        if (error_) std::rethrow_exception(error_);
        return true;
    }
    std::optional<Driven<void>> driven_;
    std::function<std::string()> text_;
    std::exception_ptr error_;
    bool ended_ = false;
};

}  // namespace hocket::comm
