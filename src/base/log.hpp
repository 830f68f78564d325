// SPDX-License-Identifier: BSD-3-Clause
// Telling what was chosen and why. Where nobody listens it costs one load and a branch. Not under a
// lock that a thread may wait for while it holds an interpreter's: the sink may take that one.
#pragma once

#include <string>

#include "hocket/log.hpp"

namespace hocket::log {

/// Whether to put it into words.
bool enabled(LogLevel level);
void write(LogLevel level, const std::string& text);

}  // namespace hocket::log
