// SPDX-License-Identifier: BSD-3-Clause
// Doing the work: messages and copies of one process.
#pragma once

#include <memory>
#include <vector>

#include "comm/link.hpp"
#include "hocket/transfer.hpp"
#include "transfer/work.hpp"

namespace hocket::transfer {

/// Where a transfer takes place.
struct Route {
    comm::Link* link;
    // maps[process of the layout] = rank of the link
    std::vector<int> source, destination;
    int data_tag;   // from senders to receivers
    int reply_tag;  // back
};

/// Moves this process's part; the arrays must live until it is done, and may be nullptr where the
/// process is not on that side. What stays on the process is copied while messages fly.
comm::Protocol<> run(std::shared_ptr<const Work> work, Place source, const void* source_data,
                     void* destination_data, Route route, std::shared_ptr<Profile> profile);

}  // namespace hocket::transfer
