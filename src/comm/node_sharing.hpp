// SPDX-License-Identifier: BSD-3-Clause
// Checks whether processes of a node can map each other's memory, which systems may forbid.
#pragma once

#include <memory>
#include <vector>

#include "comm/link.hpp"

namespace hocket::comm {

struct NodeSharing {
    /// Numbers of the nodes; negative for nodes whose processes cannot map each other's memory.
    std::shared_ptr<const std::vector<int>> nodes;
    std::shared_ptr<Link::NodeInbox> node_inbox;  ///< none if this process shares no memory
};

/// Each process tries to map memory of the next one on its node. If some cannot, all processes of
/// that node try again with descriptors that they pass each other. Collective over the link.
Protocol<NodeSharing> find_node_sharing(Link& link, int tag,
                                        std::shared_ptr<const std::vector<int>> nodes);

}  // namespace hocket::comm
