// SPDX-License-Identifier: BSD-3-Clause
// How a process gets at another's segment where it may not open /proc/PID/fd: the owner hands it
// the descriptor over a socket. Whoever asks must have the owner's user.
#pragma once

#include "shm/mapping.hpp"

namespace hocket::shm {

/// From now on this process hands out its segments, by a thread of its own that sleeps until it is
/// asked; and `map` asks others so. False where the system, or HOCKET_FORBID=socket, is against it.
bool start_fd_server();
bool fd_server_runs();

/// A descriptor of that segment, to be closed; -1 if its owner gives none.
int request_fd(const SharedAddress& remote);

}  // namespace hocket::shm
