// SPDX-License-Identifier: BSD-3-Clause
// Texts with one tag that come whenever they come.
#pragma once

#include <optional>

#include "comm/link.hpp"
#include "comm/protocol.hpp"

namespace hocket::port {

class Texts {
  public:
    /// `from`: a rank, or comm::any_source.
    Texts(comm::Link& link, int from, int tag) : link_(link), from_(from), tag_(tag) {}

    /// The next one, if it has come.
    std::optional<comm::TextMessage> next() {
        if (!receiving_) {
            auto found = link_.probe(from_, tag_);
            if (!found) return std::nullopt;
            receiving_.emplace(comm::receive_text(link_, std::move(*found), tag_));
        }
        if (!receiving_->poll()) return std::nullopt;
        auto message = receiving_->take();
        receiving_.reset();
        return message;
    }

  private:
    comm::Link& link_;
    int from_, tag_;
    std::optional<comm::Driven<comm::TextMessage>> receiving_;
};

}  // namespace hocket::port
