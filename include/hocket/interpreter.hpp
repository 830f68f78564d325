// SPDX-License-Identifier: BSD-3-Clause
// For whoever binds hocket to a language whose interpreter has a lock of its own.
#pragma once

namespace hocket {

/// The lock of an interpreter under which some operations run (Python's). Whoever holds it and
/// would wait lets go of it meanwhile: what is waited for may be a thread that polls one of them.
/// `let_go` gives what `take_back` takes, or nullptr where this thread does not hold the lock.
/// nullptr twice: there is none.
void set_interpreter_lock(void* (*let_go)(), void (*take_back)(void* held));

}  // namespace hocket
