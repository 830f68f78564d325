// SPDX-License-Identifier: BSD-3-Clause
// Memory that its owner no longer needs, but that other processes of the node may still read.
#pragma once

#include <functional>

namespace hocket::shm {

/// Keeps `unused`, and the memory that it owns, until it returns true: no process will read the
/// memory again. Each call of `free_when` and `free_unused` tests it.
void free_when(std::function<bool()> unused);
/// Frees all memory that is unused by now. Call before an allocation.
void free_unused();

}  // namespace hocket::shm
