// SPDX-License-Identifier: BSD-3-Clause
// Whether processes of a node can reach each other's memory: systems may forbid it.
#pragma once

#include <memory>
#include <vector>

#include "comm/link.hpp"

namespace hocket::comm {

struct NodeSharing {
    /// The nodes on which all can keep their numbers, the others get negative ones.
    std::shared_ptr<const std::vector<int>> nodes;
    std::shared_ptr<Link::NodeInbox> node_inbox;  ///< none where this process shares no memory
};

/// Each process tries to reach the memory of the next one on its node; where some cannot, all of
/// that node try it once more by descriptors that they hand each other. Collective over the link.
Protocol<NodeSharing> find_node_sharing(Link& link, int tag,
                                        std::shared_ptr<const std::vector<int>> nodes);

}  // namespace hocket::comm
