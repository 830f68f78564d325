// SPDX-License-Identifier: BSD-3-Clause
// The memory of arrays and message buffers: pieces of shared-memory segments (memfd), which other
// processes of the node can map. Freed pieces are kept for the next taker, because first touches
// cost several times what a copy of the same bytes costs; how much is kept is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hocket {

/// Uninitialised memory, aligned to 64 bytes (from 256 KiB on: to pages). Zero bytes give a unique
/// address too. Freed with its last owner. `room`: how many addresses it has, where that is more;
/// those beyond `bytes` take no memory until they are touched. @throws Error when there is no more,
/// and for more bytes than the machine has, saying how much was asked for.
std::shared_ptr<std::byte> allocate(std::int64_t bytes, std::int64_t room = 0);

struct MemoryUsage {
    std::int64_t in_use;        ///< bytes handed out
    std::int64_t kept;          ///< bytes freed and kept for reuse
    std::int64_t keep_at_most;  ///< HOCKET_POOL_BYTES, else 1/(4 cores) of the machine's memory
    bool shareable;             ///< false: memfd is not to be had, so the memory is private
};
MemoryUsage memory_usage();

}  // namespace hocket
