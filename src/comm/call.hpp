// SPDX-License-Identifier: BSD-3-Clause
// A protocol as an operation, which others can poll and wait for.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/numbering.hpp"
#include "comm/engine.hpp"
#include "comm/protocol.hpp"
#include "hocket/operation.hpp"

namespace hocket::comm {

/// An operation that knows whether it has ended, successfully or not.
class Activity : public Operation {
  public:
    virtual bool ended() const = 0;
};

/// Ends with the protocol, or with MPI; every later poll throws the protocol's error again.
class Call final : public Activity {
  public:
    /// `text` is called only for long waits and for errors.
    Call(Protocol<> protocol, std::function<std::string()> text)
        : driven_(std::in_place, std::move(protocol)), text_(std::move(text)) {}
    Call(Protocol<> protocol, std::string text)
        : Call(std::move(protocol), [text = std::move(text)] { return text; }) {}

    bool poll() override {
        if (ended_) return outcome();
        const text::FirstIndex counting(first_);  // any thread polls, also one in another's call
        try {
            require_not_ended();
            if (!driven_->poll()) return false;  // throws if a condition does
            driven_->take();
        } catch (...) {
            error_ = std::current_exception();
        }
        ended_ = true;
        driven_.reset();  // other owners of the call must not keep its arrays alive
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
    const std::int64_t first_ = text::first_index();
    std::exception_ptr error_;
    bool ended_ = false;
};

}  // namespace hocket::comm
