// SPDX-License-Identifier: BSD-3-Clause
// Refused starts: their reasons follow the messages without elements.
#pragma once

#include <optional>
#include <vector>

#include "comm/agree.hpp"
#include "comm/protocol.hpp"
#include "transport/route.hpp"

namespace hocket::transfer {

class Refusals {
  public:
    /// `route` must live as long.
    explicit Refusals(const transport::Route& route) : route_(route) {}

    /// At the beginning of a start; only after `poll` was true.
    void clear();
    /// Sends the reason to these ranks, which get no elements from this process.
    void send(const std::vector<int>& ranks, const comm::Fault& why);
    /// Notes that a message of this rank came without elements.
    void from(int rank);
    /// After the last message: true when all reasons have been sent and received.
    bool poll();
    /// The reason of the lowest rank that refused, if any did.
    const std::optional<comm::Fault>& observed() const { return observed_; }

  private:
    const transport::Route& route_;
    std::vector<int> ranks_;
    std::optional<comm::Fault> observed_;
    std::optional<comm::Driven<void>> sending_, receiving_;
};

}  // namespace hocket::transfer
