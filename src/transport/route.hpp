// SPDX-License-Identifier: BSD-3-Clause
// The route of a schedule's messages: the processes of a link, and the tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm/link.hpp"
#include "kernel/byte_order.hpp"
#include "transport/message.hpp"

namespace hocket::transport {

struct Route {
    comm::Link* link;
    // maps[process of the layout] = rank of the link
    std::vector<int> source, destination;
    int data_tag = 0;           // from senders to receivers
    std::int64_t call = 0;      // a growing number among the calls with this tag
    std::int64_t max_buffer{};  // bytes of buffers for this transfer; 0: `default_buffers`
    // Among senders, and among receivers: a process may belong to both sides independently.
    int source_tag = data_tag, destination_tag = data_tag;
    // Bytes of each number of an element; 1: its bytes mean the same on every machine.
    std::int64_t number_bytes = 1;
    // Whether the senders of short messages may go on before their receivers come.
    bool ahead = false;
    // At both ends, if the message's elements travelled before the call was agreed on: these.
    std::optional<std::span<const std::byte>> early = std::nullopt;

    /// Converts elements that came from that rank, if its machine has the other byte order.
    void convert(int rank, std::byte* elements, std::int64_t bytes) const {
        if (number_bytes > 1 && link->other_order(rank))
            kernel::reverse_numbers(elements, bytes, number_bytes);
    }
    int rank_of(const Message& message) const {
        return (message.peer_in_source ? source
                                       : destination)[static_cast<std::size_t>(message.peer)];
    }
    int tag_of(const Message& message) const {
        if (!message.within) return data_tag;
        return message.peer_in_source ? source_tag : destination_tag;
    }
    /// Whether its peer shares this process's memory. If not, the link carries the message: by MPI,
    /// or by a stream of bytes to a process of another job.
    bool in_node(const Message& message) const { return link->in_node(rank_of(message)); }
    /// For the reasons of senders that refuse a start; only transfers that may refuse use it.
    int refusal_tag() const { return data_tag + 1; }
};

}  // namespace hocket::transport
