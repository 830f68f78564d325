// SPDX-License-Identifier: BSD-3-Clause
// Texts with one tag that come whenever they come.
#pragma once

#include <optional>
#include <utility>

#include "comm/link.hpp"
#include "comm/protocol.hpp"

namespace hocket::comm {

class Texts {
  public:
    /// `from`: a rank, or any_source.
    Texts(Link& link, int from, int tag) : link_(link), from_(from), tag_(tag) {}

    /// The next one, if it has come.
    std::optional<TextMessage> next() {
        if (!receiving_) {
            auto found = link_.probe(from_, tag_);
            if (!found) return std::nullopt;
            if (found->text) return TextMessage{found->source, std::move(*found->text)};
            receiving_.emplace(receive_text(link_, std::move(*found), tag_));
        }
        if (!receiving_->poll()) return std::nullopt;
        auto message = receiving_->take();
        receiving_.reset();
        return message;
    }

  private:
    Link& link_;
    int from_, tag_;
    std::optional<Driven<TextMessage>> receiving_;
};

}  // namespace hocket::comm
