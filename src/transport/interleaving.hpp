// SPDX-License-Identifier: BSD-3-Clause
// Messages that a process receives within its node, and what stays on it, where their elements lie
// among each other in its array: their parts are copied together, whole cache lines at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernel/interleave.hpp"
#include "transport/shm_message.hpp"

namespace hocket::transport {

class Interleaving {
  public:
    using Receives = std::vector<std::unique_ptr<ShmReceive>>;

    /// `local`: what stays; may have no parts. All of these must live as long.
    Interleaving(const Chunks& local, const Receives& receives)
        : local_(local), receives_(receives) {}

    /// Copies the next part of all, or of those that lag behind the others. False where nothing is
    /// woven now: then each is to go on by itself. `local_done`: parts of what stays.
    bool step(std::uint64_t& local_done, const std::byte* from, std::byte* to);

  private:
    std::size_t strands() const { return receives_.size() + (local_.size() > 0 ? 1 : 0); }
    // What strand i is made from now: an array of the next start may be reached in another way.
    const Chunks& made_from(std::size_t i) const;
    void prepare();

    const Chunks& local_;
    const Receives& receives_;
    std::vector<const Chunks*> of_;  // what they are made from
    std::vector<std::optional<kernel::InterleavedCopy>>
        weaves_;                             // a part each; none: nothing is woven
    std::vector<const std::byte*> sources_;  // of one part, for as long as a step
    std::vector<ShmReceive*> taken_;
};

}  // namespace hocket::transport
