// SPDX-License-Identifier: BSD-3-Clause
// Descriptors of segments over a Unix socket (SCM_RIGHTS), for processes that may not open
// /proc/PID/fd. The owner serves only processes of its own user.
#pragma once

#include "shm/mapping.hpp"

namespace hocket::shm {

/// Starts a thread that serves this process's segments; from then on `map` requests others' in this
/// way. Returns false if the system or HOCKET_FORBID=socket forbids it.
bool start_fd_server();
bool fd_server_runs();

/// A descriptor of that segment, which the caller closes; -1 if its owner refuses.
int request_fd(const SharedAddress& remote);

}  // namespace hocket::shm
