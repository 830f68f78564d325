// SPDX-License-Identifier: BSD-3-Clause
// One job writes a store at a time: a lock that the system releases when its process ends.
#pragma once

#include <string>

#include "zarr/tree.hpp"

namespace hocket::store {

/// "process 4711 on host n17".
std::string this_process();

class Lock {
  public:
    /// @throws Error if another process holds it, which the error names, or if another store has
    ///         its path now.
    explicit Lock(zarr::Place store);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    zarr::Place store_;
    zarr::File file_;
};

}  // namespace hocket::store
