// SPDX-License-Identifier: BSD-3-Clause
// Carrying out the messages of a strategy that passes elements on.
#pragma once

#include <memory>

#include "transfer/relay_work.hpp"
#include "transfer/route.hpp"
#include "transfer/stopwatch.hpp"

namespace hocket::transfer {

/// One process's part, run once or again and again. All receives are open from the start; sends go
/// in the order of rounds, each once all that it carries is here, so that what one process sends
/// another arrives in the order in which it is expected.
class Relay {
  public:
    /// All must live as long.
    Relay(const RelayWork& work, const Route& route, Stopwatch& watch);

    void start(const std::byte* source, std::byte* destination);
    bool poll();

  private:
    int tag_of(const PackedMessage& message) const;
    bool send_what_is_ready();
    void arrived(std::size_t receive);

    const RelayWork& work_;
    const Route& route_;
    Stopwatch& watch_;
    const std::byte* from_ = nullptr;
    std::byte* to_ = nullptr;
    std::shared_ptr<std::byte> buffer_;
    std::vector<bool> here_;      // of each receive
    std::size_t first_away_ = 0;  // receives before this one have come
    std::size_t sent_ = 0;
    comm::Requests in_, out_;  // last, so that they end before their buffers
};

}  // namespace hocket::transfer
