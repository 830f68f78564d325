// SPDX-License-Identifier: BSD-3-Clause
// How a process of the same node finds memory that another process got from `allocate`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hocket::shm {

/// A place in a segment, in words that any process of the node understands.
struct SharedAddress {
    std::int64_t process = 0;  // its owner's process id; 0: nowhere that others could find
    std::int64_t file = 0;     // the owner's descriptor of the segment
    std::int64_t inode = 0;    // tells whether that descriptor still means this segment
    std::int64_t offset = 0;   // bytes

    explicit operator bool() const { return process != 0; }
};

/// Memory as `allocate`, which others can map. @throws Error where there is none, saying why.
std::shared_ptr<std::byte> allocate_shared(std::int64_t bytes);

/// Where others find this address; nowhere for memory that is not hocket's, or private.
SharedAddress shared_address_of(const void* address);

/// The same memory in this process, mapped at first use; nullptr for nowhere, and where the system
/// forbids it (the processes have different users; or /proc is not there, and its owner hands out
/// nothing: handing.hpp). Stays mapped while the pointer is
/// held, and a while longer.
std::shared_ptr<std::byte> map(const SharedAddress& address);

/// Ways to share memory that systems may forbid. HOCKET_FORBID="memfd,proc,process_vm,socket"
/// pretends that this one does. Other words in it are an error of the first collective call.
enum class Mechanism { memfd, proc, process_vm, socket };
bool forbidden(Mechanism way);

/// The mappings that are kept for the next call of `map`: a bounded number, of bounded bytes.
struct Mapped {
    std::size_t segments, bytes;
};
Mapped mapped();

}  // namespace hocket::shm
