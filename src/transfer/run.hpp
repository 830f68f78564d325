// SPDX-License-Identifier: BSD-3-Clause
// Doing the work: messages and copies of one process.
#pragma once

#include <memory>
#include <vector>

#include "comm/link.hpp"
#include "hocket/transfer.hpp"
#include "transfer/work.hpp"

namespace hocket::transfer {

/// Where the processes of both layouts are on the link: maps[process] = link rank.
struct Maps {
    std::vector<int> source, destination;
};

/// Moves this process's part; the arrays must live until it is done. What stays on the process is
/// copied while messages fly.
comm::Protocol<> run(std::shared_ptr<const Work> work, const void* source, void* destination,
                     comm::Link& link, int tag, std::shared_ptr<const Maps> maps,
                     std::shared_ptr<Profile> profile);

}  // namespace hocket::transfer
