// SPDX-License-Identifier: BSD-3-Clause
#include "comm/interrupts.hpp"

#include <atomic>

#include "hocket/binding.hpp"

namespace hocket {
namespace {

std::atomic<void* (*)()> let_go_of_lock{nullptr};
std::atomic<void (*)(void*)> take_back_lock{nullptr};

}  // namespace

void Binding::set_interpreter_lock(void* (*let_go)(), void (*take_back)(void* held)) {
    take_back_lock = take_back;
    let_go_of_lock = let_go;
}

comm::InterpreterUnlocked::InterpreterUnlocked() : take_back_(take_back_lock.load()) {
    if (const auto let_go = let_go_of_lock.load(); let_go != nullptr) held_ = let_go();
}

comm::InterpreterUnlocked::~InterpreterUnlocked() {
    if (held_ != nullptr) take_back_(held_);
}

}  // namespace hocket
