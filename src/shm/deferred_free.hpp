// SPDX-License-Identifier: BSD-3-Clause
// Memory whose owner has left, and where other processes of the node may still look.
#pragma once

#include <functional>

namespace hocket::shm {

/// Keeps `unused`, and with it the memory that it holds, until it says that nobody will look
/// there any more. It is asked whenever something is retired or swept, and not after it was true.
void free_when(std::function<bool()> unused);
/// Lets go of what is deserted by now: before more memory is taken.
void free_unused();

}  // namespace hocket::shm
