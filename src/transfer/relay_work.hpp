// SPDX-License-Identifier: BSD-3-Clause
// One process's messages under a strategy that passes elements on: what goes into each of them from
// the array and from those that came before, and what comes out.
#pragma once

#include <cstdint>
#include <vector>

#include "transfer/packed.hpp"
#include "transfer/place.hpp"

namespace hocket::transfer {

/// What a message of so many bytes takes of the buffer.
constexpr std::int64_t relay_room(std::int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

struct RelayWork {
    /// @throws LayoutError as Plan::steps does.
    RelayWork(const Plan& plan, const Place& source, const Place& destination);

    std::vector<PackedMessage> sends, receives;  // in the order of rounds
    std::int64_t buffer = 0;                     // bytes, for all messages
};

}  // namespace hocket::transfer
