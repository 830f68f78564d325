// SPDX-License-Identifier: BSD-3-Clause
// Memory whose owner has left, and where other processes of the node may still look.
#pragma once

#include <functional>

namespace hocket::shm {

/// Keeps `deserted`, and with it the memory that it holds, until it says that nobody will look
/// there any more. It is asked whenever something is retired or swept, and not after it was true.
void retire(std::function<bool()> deserted);
/// Lets go of what is deserted by now: before more memory is taken.
void sweep();

}  // namespace hocket::shm
