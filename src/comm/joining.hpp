// SPDX-License-Identifier: BSD-3-Clause
// One link for the processes of several jobs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/closing.hpp"
#include "comm/link.hpp"

namespace hocket::comm {

/// Collective over all processes of all jobs. `own`: a link of this process's job that nobody else
/// uses (State::new_link). `endpoints`: by rank of the new link, nullptr for the processes of this
/// job, which get the ranks from `first` on.
///
/// `host`: processes that give the same text, and whose system has the same name, are on one node,
/// and share memory where the system lets them. Jobs that meet on one host give the same text;
/// others one of their own. @throws PeerLostError
Protocol<OwnedLink> join(OwnedLink own, int first, std::vector<std::shared_ptr<Endpoint>> endpoints,
                         std::string host);

}  // namespace hocket::comm
