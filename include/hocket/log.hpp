// SPDX-License-Identifier: BSD-3-Clause
// The log: hocket reports the strategies, memory paths and settings that it chooses, and why.
#pragma once

namespace hocket {

/// debug: each choice and its reason; info: settings of the whole program.
enum class LogLevel { debug = 10, info = 20 };

/// Passes messages of this level and above to `sink`, in the thread that makes the choice. nullptr:
/// hocket composes no messages. `sink` must not call hocket.
void set_log(void (*sink)(LogLevel level, const char* text), LogLevel from = LogLevel::debug);

}  // namespace hocket
