// SPDX-License-Identifier: BSD-3-Clause
// All processes of this host that this process has met, and which of them have ended or left.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shm/liveness.hpp"
#include "shm/status_page.hpp"

namespace hocket::shm {

/// Watches a process, if it can be seen from here and is another.
void add_peer(const ProcessIdentity& identity, const SharedAddress& status_page,
              const std::string& name);
/// Another name of a watched process.
void describe_peer(const ProcessIdentity& identity, const std::string& name);
/// The name of one that has ended without having left; empty while all live.
std::string lost_peer();
/// Those that have left of one of the lists that `needs` gives, if all processes of that list have;
/// else empty. Calls `needs` only if any process has left.
std::string left_peers(const std::function<std::vector<std::vector<std::int64_t>>()>& needs);
/// The names of these processes: "rank 0 or rank 2"; "" if any of them is unknown here.
std::string names_of_peers(const std::vector<std::int64_t>& processes);

}  // namespace hocket::shm
