// SPDX-License-Identifier: BSD-3-Clause
// A page in which each process says whether it still takes part, and what it waits to begin with
// others. Others of its node read it at any time, also after its end.
#pragma once

#include <cstdint>
#include <memory>

#include "shm/sharing.hpp"

namespace hocket::shm {

/// Where others find this process's page; nowhere if memory cannot be shared.
Place presence();
/// This process takes no further part: it sends nothing more.
void leave();

/// While one lives, others can see that this process waits to begin something with them. `number`
/// stands for it, on all of them.
class Beginning {
  public:
    explicit Beginning(std::uint64_t number);
    ~Beginning();
    Beginning(const Beginning&) = delete;
    Beginning& operator=(const Beginning&) = delete;

  private:
    std::uint64_t number_;
};

/// Another process's page.
class Presence {
  public:
    Presence() = default;  ///< unknown
    explicit Presence(const Place& place) : page_(map(place)) {}
    /// Found among the open files of a process; unknown where it has no such page yet.
    static Presence of(std::int64_t process);
    bool known() const { return page_ != nullptr; }
    /// Whether it has left in good order; false where that is unknown.
    bool left() const;
    /// Whether it waits to begin this; false where that is unknown.
    bool begins(std::uint64_t number) const;

  private:
    std::shared_ptr<std::byte> page_;
};

}  // namespace hocket::shm
