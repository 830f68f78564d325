// SPDX-License-Identifier: BSD-3-Clause
// Between which processes of a link a transfer's messages travel, and what tells them from others.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/link.hpp"

namespace hocket::transport {

struct Route {
    comm::Link* link;
    // maps[process of the layout] = rank of the link
    std::vector<int> source, destination;
    int data_tag = 0;       // from senders to receivers
    std::int64_t call = 0;  // of those that have this tag, one after the other, a growing number
    std::int64_t max_buffer{};  // bytes of buffers for this transfer; 0: as `default_buffers` says
    // Among senders, and among receivers: a process may be on both sides as two that do not know
    // of each other.
    int source_tag = data_tag, destination_tag = data_tag;
};

}  // namespace hocket::transport
