// SPDX-License-Identifier: BSD-3-Clause
// One process's messages under a strategy that passes elements on: what goes into each of them from
// the array and from those that came before, and what comes out.
#pragma once

#include <cstdint>
#include <vector>

#include "transfer/local_view.hpp"
#include "transfer/packed.hpp"

namespace hocket::transfer {

/// What a message of so many bytes takes of the buffer.
constexpr std::int64_t relay_room(std::int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

struct RelayPlan {
    /// @throws LayoutError as Plan::steps does.
    RelayPlan(const Plan& plan, const LocalView& source, const LocalView& destination);

    std::vector<PackedMessage> sends, receives;  // in the order of rounds
    std::int64_t buffer = 0;                     // bytes, for all messages
};

}  // namespace hocket::transfer
