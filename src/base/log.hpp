// SPDX-License-Identifier: BSD-3-Clause
// Logs choices and their reasons. Without a sink a call costs one load and a branch. Do not log
// under a lock for which a thread may wait while it holds an interpreter's lock, because the sink
// may need that lock.
#pragma once

#include <string>

#include "hocket/log.hpp"

namespace hocket::log {

/// Whether to compose a message.
bool enabled(LogLevel level);
void write(LogLevel level, const std::string& text);

}  // namespace hocket::log
