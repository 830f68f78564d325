// SPDX-License-Identifier: BSD-3-Clause
// A message that is packed into a buffer and sent from there, or received there and unpacked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hocket/plan.hpp"
#include "transport/chunks.hpp"

namespace hocket::transfer {

using transport::LocalCopy;

/// Of relays: one that begins or ends on this process. Its byte behind the elements of its message
/// is 1 where the process that it begins on refused the start, so that it has no elements.
struct OwnParcel {
    std::int64_t source;            // process
    std::int64_t flag_offset;       // in the buffer
    std::vector<LocalCopy> copies;  // between the array and the buffer
};

struct PackedMessage {
    std::int64_t peer = -1;  // process of its side
    std::int64_t bytes = 0, buffer_offset = 0;
    std::vector<LocalCopy> copies = {};   // between the array and the buffer
    std::vector<OwnParcel> parcels = {};  // of relays, instead of copies
    // Of relays: parcels that came in one message and go on in this one, and how many receives, the
    // first so many, must have come before.
    std::vector<LocalCopy> forwarded = {};
    std::size_t needs = 0;
    Side peer_side = Side::destination;
    bool within = false;  // between two processes of one side
};

inline void run_all(const std::vector<LocalCopy>& copies, const std::byte* source,
                    std::byte* destination) {
    for (const LocalCopy& each : copies)
        each.copy.run(source + each.source_offset, destination + each.destination_offset);
}

}  // namespace hocket::transfer
