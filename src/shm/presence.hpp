// SPDX-License-Identifier: BSD-3-Clause
// A word in which each process says whether it still takes part, where others of its node read it
// at any time, also after its end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "shm/sharing.hpp"

namespace hocket::shm {

/// Where others find this process's word; nowhere if memory cannot be shared.
Place presence();
/// This process takes no further part: what it has not said by now it will not say.
void leave();

/// Another process's word.
class Presence {
  public:
    Presence() = default;  ///< unknown
    explicit Presence(const Place& place) : word_(map(place)) {}
    bool known() const { return word_ != nullptr; }
    /// Whether it has left in good order; false where that is unknown.
    bool left() const;

  private:
    std::shared_ptr<std::byte> word_;
};

}  // namespace hocket::shm
