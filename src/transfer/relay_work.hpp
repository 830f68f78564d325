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

/// One that begins or ends on this process. Its byte behind the elements of its message is 1 where
/// the process that it begins on refused the start, so that it has no elements.
struct OwnParcel {
    std::int64_t source;        // process
    std::int64_t flag_offset;   // in the buffer
    std::vector<Piece> pieces;  // packed into the message, or unpacked where it was received
};

struct RelayMessage {
    Side peer_side;
    bool within;  // between two processes of one side
    std::int64_t peer;
    std::int64_t bytes, buffer_offset;
    std::vector<OwnParcel> parcels;
    std::vector<Passing> passings;  // of a message to send, and the bytes behind its elements
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
