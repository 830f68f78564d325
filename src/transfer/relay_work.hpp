// SPDX-License-Identifier: BSD-3-Clause
// One process's messages under a strategy that passes elements on: what goes into each of them from
// the array and from those that came before, and what comes out.
#pragma once

#include <cstdint>
#include <vector>

#include "transfer/place.hpp"

namespace hocket::transfer {

/// A parcel that came in one message and goes on in another.
struct Passing {
    std::int64_t from, to, bytes;  // offsets in the buffer
};

struct RelayMessage {
    Side peer_side;
    bool within;  // between two processes of one side
    std::int64_t peer;
    std::int64_t bytes, buffer_offset;
    std::vector<Piece> pieces;      // packed into it, or unpacked where it was received
    std::vector<Passing> passings;  // of a message to send
    std::size_t needs = 0;          // receives, the first so many, that must have come before
};

/// What a message of so many bytes takes of the buffer.
constexpr std::int64_t relay_room(std::int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

struct RelayWork {
    /// @throws LayoutError as Plan::steps does.
    RelayWork(const Plan& plan, const Place& source, const Place& destination);

    std::vector<RelayMessage> sends, receives;  // in the order of rounds
    std::int64_t buffer = 0;                    // bytes, for all messages
};

}  // namespace hocket::transfer
