// SPDX-License-Identifier: BSD-3-Clause
// One job writes a store at a time: a lock that the system takes back when its process ends.
#pragma once

#include <memory>
#include <string>

#include "zarr/files.hpp"

namespace hocket::store {

/// "process 4711 on host n17".
std::string this_process();

class Lock {
  public:
    /// @throws Error where another process holds it, naming that.
    explicit Lock(std::shared_ptr<const zarr::Folder> folder);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    std::shared_ptr<const zarr::Folder> folder_;
    zarr::File file_;
};

}  // namespace hocket::store
