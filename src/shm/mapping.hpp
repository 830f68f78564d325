// SPDX-License-Identifier: BSD-3-Clause
// Addresses of memory from `allocate` that other processes of the node can map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hocket::shm {

/// An address within a segment, valid in every process of the node.
struct SharedAddress {
    std::int64_t process = 0;  // its owner's process id; 0: nowhere that others could find
    std::int64_t file = 0;     // the owner's descriptor of the segment
    std::int64_t inode = 0;    // shows whether that descriptor still means this segment
    std::int64_t offset = 0;   // bytes

    explicit operator bool() const { return process != 0; }
};

/// Memory as from `allocate`, which other processes can map. @throws Error with the reason.
std::shared_ptr<std::byte> allocate_shared(std::int64_t bytes);

/// The shared address of a pointer; empty for memory that is private or not hocket's.
SharedAddress shared_address_of(const void* address);

/// Maps the memory at first use, for at least as long as the pointer lives. Returns nullptr for an
/// empty address, and if the system forbids it: the processes have different users, or /proc is
/// hidden and the owner does not pass descriptors (fd_passing.hpp).
std::shared_ptr<std::byte> map(const SharedAddress& address);

/// Mechanisms that a system may forbid. HOCKET_FORBID="memfd,proc,process_vm,socket" pretends that
/// this system does. The first collective call reports any other word as an error.
enum class Mechanism { memfd, proc, process_vm, socket };
bool forbidden(Mechanism mechanism);

/// The bytes of each mapping that `map` caches: for each owner, bounded in number and together.
std::vector<std::size_t> mapped();

}  // namespace hocket::shm
