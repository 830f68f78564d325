// SPDX-License-Identifier: BSD-3-Clause
// hocket tells a function of the program which strategy, memory path and settings it uses, and why.
#pragma once

namespace hocket {

/// debug: each choice, with what it was made by; info: what holds for the whole program.
enum class LogLevel { debug = 10, info = 20 };

/// `sink` gets what is told from this level on, in the thread that makes the choice; nullptr:
/// nobody does, and nothing is put into words. It must not call hocket.
void set_log(void (*sink)(LogLevel level, const char* text), LogLevel from = LogLevel::debug);

}  // namespace hocket
