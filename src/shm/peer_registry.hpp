// SPDX-License-Identifier: BSD-3-Clause
// All processes that this process has met, and which of those of this host have ended or left.
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
/// The number of a process of another host, which nobody can watch here: negative, while the ids of
/// this host's processes are positive.
std::int64_t peer_elsewhere(int world_rank, std::int64_t process);
/// The id on its own host of a process with this number.
std::int64_t id_of_process(std::int64_t number);
/// Another name of a watched process, or of one of another host.
void describe_peer(std::int64_t process, const std::string& name);
/// The name of one that has ended without having left; empty while all live.
std::string lost_peer();
/// Those that have left of one of the lists that `needs` gives, if all processes of that list have;
/// else empty. Calls `needs` only if any process has left.
std::string left_peers(const std::function<std::vector<std::vector<std::int64_t>>()>& needs);
/// The names of these processes: "rank 0 or rank 2"; "" if any of them is unknown here.
std::string names_of_peers(const std::vector<std::int64_t>& processes);
/// The name of a process of this program, of any host: "rank 2", or with its description.
std::string name_of_rank(int world_rank);

}  // namespace hocket::shm
