// SPDX-License-Identifier: BSD-3-Clause
// Interleaved receives: messages within the node, and local elements, that interleave in the array
// of a process. Their chunks are copied together, whole cache lines at a time.
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

    /// `local`: elements that stay; may be empty. All of these must live as long.
    Interleaving(const Chunks& local, const Receives& receives)
        : local_(local), receives_(receives) {}

    /// Copies the next chunk of all, or of those that are behind. False if nothing interleaves now:
    /// then each proceeds separately. `local_done`: chunks of local elements.
    bool step(std::uint64_t& local_done, const std::byte* from, std::byte* to);

  private:
    std::size_t stream_count() const { return receives_.size() + (local_.size() > 0 ? 1 : 0); }
    // The chunks of source i at present: the next start may reach another array in another way.
    const Chunks& made_from(std::size_t i) const;
    void prepare();

    const Chunks& local_;
    const Receives& receives_;
    std::vector<const Chunks*> of_;  // the chunks for which the copies were made
    std::vector<std::optional<kernel::InterleavedCopy>>
        copies_;                             // one a chunk; empty: nothing interleaves
    std::vector<const std::byte*> sources_;  // of one chunk, during a step
    std::vector<ShmReceive*> taken_;
};

}  // namespace hocket::transport
