// SPDX-License-Identifier: BSD-3-Clause
// Starts that a process cannot make: their reasons, which follow the messages that came without
// elements.
#pragma once

#include <optional>
#include <vector>

#include "comm/agree.hpp"
#include "comm/protocol.hpp"
#include "transfer/route.hpp"

namespace hocket::transfer {

class Refusals {
  public:
    /// `route` must live as long.
    explicit Refusals(const Route& route) : route_(route) {}

    /// A start begins; only when `poll` was true.
    void clear();
    /// These ranks learn why this process sends them no elements.
    void tell(const std::vector<int>& ranks, const comm::Fault& why);
    /// A message of this rank came without elements.
    void from(int rank);
    /// Once no more messages come: true when all reasons have gone and come.
    bool poll();
    /// The reason of the lowest rank that refused, if any did.
    const std::optional<comm::Fault>& observed() const { return heard_; }

  private:
    const Route& route_;
    std::vector<int> ranks_;
    std::optional<comm::Fault> heard_;
    std::optional<comm::Driven<void>> telling_, hearing_;
};

}  // namespace hocket::transfer
