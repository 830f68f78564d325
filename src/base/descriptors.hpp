// SPDX-License-Identifier: BSD-3-Clause
// File descriptors that processes pass to each other over a Unix socket (SCM_RIGHTS).
#pragma once

#include <cstddef>
#include <span>

namespace hocket::base {

/// Sends bytes over a socket, and with the first of them a descriptor of the file, unless `file` is
/// -1. Returns what sendmsg does.
long send_descriptor(int line, std::span<const std::byte> bytes, int file);
/// Receives bytes and the descriptor that came with one of them, which the caller closes; -1: none
/// did. Bytes that came with different descriptors arrive in different calls. Of several that one
/// message carries, the system closes all but the first. Returns what recvmsg does.
long receive_descriptor(int line, std::span<std::byte> into, int& file);

}  // namespace hocket::base
