// SPDX-License-Identifier: BSD-3-Clause
// The memory of arrays and message buffers: blocks of shared-memory segments (memfd), which other
// processes of the node can map. hocket keeps freed blocks for reuse, because first touches cost
// several times as much as a copy of the same bytes. A limit bounds the kept bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hocket {

/// Allocates uninitialised memory, aligned to 64 bytes (to pages for 256 KiB or more). Zero bytes
/// give a unique address too. The last owner frees it. `room`: bytes of address space to reserve,
/// if more than `bytes`; those beyond take no memory until they are used. @throws Error if the
/// machine has not enough memory; the message states the request.
std::shared_ptr<std::byte> allocate(std::int64_t bytes, std::int64_t room = 0);

struct MemoryUsage {
    std::int64_t in_use;        ///< bytes handed out
    std::int64_t kept;          ///< bytes freed and kept for reuse
    std::int64_t keep_at_most;  ///< HOCKET_POOL_BYTES, else 1/(4 cores) of the machine's memory
    bool shareable;             ///< false: this system has no memfd, so the memory is private
};
MemoryUsage memory_usage();

}  // namespace hocket
