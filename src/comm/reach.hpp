// SPDX-License-Identifier: BSD-3-Clause
// Whether processes of a node can reach each other's memory: systems may forbid it.
#pragma once

#include <memory>
#include <vector>

#include "comm/link.hpp"

namespace hocket::comm {

/// Each process tries to reach the memory of the next one on its node. The nodes on which all can
/// keep their numbers, the others get negative ones. Collective over the link.
Protocol<std::shared_ptr<const std::vector<int>>> find_sharing(
    Link& link, int tag, std::shared_ptr<const std::vector<int>> nodes);

}  // namespace hocket::comm
