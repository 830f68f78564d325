// SPDX-License-Identifier: BSD-3-Clause
// Memory for the parts of pictures. An observer on this host maps the part instead of receiving its
// bytes. New memory costs more than the copy, so memory that an observer has read is used again.
#pragma once

#include <cstddef>
#include <list>
#include <memory>

#include "shm/segment.hpp"

namespace hocket::port {

/// Memory that observers can map. They hold it as long as they like; this process, until the last
/// owner goes.
using LentMemory = std::shared_ptr<const shm::Segment>;

/// Elements of a section that one process has.
struct Part {
    std::shared_ptr<std::byte> data;
    std::size_t bytes = 0;
    LentMemory lent = nullptr;  // where the elements are, if the observer maps them
};
/// Memory of this process alone. @throws Error if there is none.
Part private_part(std::size_t bytes);

/// Memory that was lent, and that its observers have read.
class LentMemories {
  public:
    /// For an observer that maps memory; private where it is short, or cannot be lent.
    Part part(std::size_t bytes);
    /// Its observer has read it.
    void put_back(LentMemory memory, double now);
    /// Frees what nobody has used for some seconds.
    void free_unused(double now);

  private:
    struct Unused {
        LentMemory memory;
        double since;
    };
    std::list<Unused> unused_;
};

}  // namespace hocket::port
