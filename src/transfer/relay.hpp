// SPDX-License-Identifier: BSD-3-Clause
// Carrying out the messages of a strategy that passes elements on.
#pragma once

#include <memory>

#include "transfer/refusals.hpp"
#include "transfer/relay_plan.hpp"
#include "transfer/route.hpp"
#include "transfer/stopwatch.hpp"

namespace hocket::transfer {

/// One process's part, run once or again and again. All receives are open from the start; sends go
/// in the order of rounds, each once all that it carries is here, so that what one process sends
/// another arrives in the order in which it is expected.
class Relay {
  public:
    /// All must live as long.
    Relay(const RelayPlan& work, const Route& route, Refusals& refusals, Stopwatch& watch);

    /// `refusing`: what passes through goes on, but no elements of this process's own leave it, and
    /// it takes none.
    void start(const std::byte* source, std::byte* destination, bool refusing);
    bool poll();

  private:
    int tag_of(const PackedMessage& message) const;
    bool send_what_is_ready();
    void arrived(std::size_t receive);

    const RelayPlan& work_;
    const Route& route_;
    Refusals& refusals_;
    Stopwatch& watch_;
    const std::byte* from_ = nullptr;
    std::byte* to_ = nullptr;
    bool refusing_ = false;
    std::shared_ptr<std::byte> buffer_;
    std::vector<bool> here_;      // of each receive
    std::size_t first_away_ = 0;  // receives before this one have come
    std::size_t sent_ = 0;
    comm::Requests in_, out_;  // last, so that they end before their buffers
};

}  // namespace hocket::transfer
