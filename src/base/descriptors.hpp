// SPDX-License-Identifier: BSD-3-Clause
// File descriptors that processes pass to each other over a Unix socket (SCM_RIGHTS).
#pragma once

namespace hocket::base {

/// Sends one byte over a socket, and with it a descriptor of the file, unless `file` is -1. False
/// with errno if that fails.
bool send_descriptor(int line, char byte, int file);
/// Receives one byte and its descriptor, which the caller closes; -1 for a byte without one.
/// Returns what recvmsg does.
long receive_descriptor(int line, char& byte, int& file);

}  // namespace hocket::base
