// SPDX-License-Identifier: BSD-3-Clause
// Where a transfer takes place.
#pragma once

#include <vector>

#include "comm/link.hpp"
#include "hocket/plan.hpp"

namespace hocket::transfer {

struct Route {
    comm::Link* link;
    // maps[process of the layout] = rank of the link
    std::vector<int> source, destination;
    int data_tag = 0;       // from senders to receivers
    std::int64_t call = 0;  // of those that have this tag, one after the other, a growing number
    std::int64_t max_buffer{};  // bytes of buffers for this transfer; 0: as `usual_buffers` says
    // Among senders, and among receivers: a process may be on both sides as two that do not know
    // of each other.
    int source_tag = data_tag, destination_tag = data_tag;

    /// For the reasons of senders that refuse a start; of transfers whose starts may be refused.
    int refusal_tag() const { return data_tag + 1; }
    int rank_of(Side side, std::int64_t process) const {
        return (side == Side::source ? source : destination)[static_cast<std::size_t>(process)];
    }
};

}  // namespace hocket::transfer
