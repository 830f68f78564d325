// SPDX-License-Identifier: BSD-3-Clause
// Segments: memory that the processes of one node can map, each as a file without a name (memfd).
//
// A fork's child shares them with its parent, unlike other memory, and both would write there. So a
// handler gives the child private memory at the same addresses (pthread_atfork):
//
//   - If the parent's segments in use have at most `most_copied` bytes together, the child copies
//     them while the parent waits. So the child has the memory of the moment of the fork.
//   - Larger segments are mapped privately. The system copies a page when the child first writes
//     to it; until then the child sees the parent's writes. A copy of some gigabytes would take a
//     second, and as much memory again in each child.
//   - The segments of other processes become zeros: the child does not communicate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace hocket::shm {

/// A segment of this process.
struct Segment {
    std::byte* data = nullptr;
    std::size_t bytes = 0;  // whole pages
    int file = -1;          // -1: the memory is private, as the system has no memfd for it
    std::int64_t inode = 0;
    int error = 0;     // errno, where the memory is private though it was to be shared
    bool used = true;  // for forks: whether its contents matter; see use_segment
};

inline constexpr std::size_t most_copied = std::size_t{1} << 28;
/// Segments of this size or more begin at a multiple of it, so that they may have huge pages.
inline constexpr std::size_t huge_page = std::size_t{1} << 21;

/// A new segment of at least so many bytes, all zero, in use, which all processes of this job may
/// map; private memory where the system or HOCKET_FORBID forbids that. `data` is nullptr where
/// there is no memory. `name`: the text that /proc/PID/fd shows for its file, after "/memfd:".
Segment make_segment(std::size_t bytes, const char* name);
/// As make_segment, for whoever gets its descriptor, to read: it has its length for ever, and only
/// this process writes to it, by its mapping (seals).
Segment make_sealed_segment(std::size_t bytes, const char* name);
void free_segment(const Segment& segment);
/// Takes the first `bytes` of the memory of a new segment now, in huge pages as far as the system
/// has them, and without a partial last one: that takes a tenth of the time of a first touch page
/// by page, here and in each process that maps it, and later uses miss fewer translations of
/// addresses (TLB).
void take_huge_pages(std::byte* data, std::size_t bytes);
/// Whether the contents of a segment of this process matter.
void use_segment(const Segment& segment, bool used);

/// A mutex that its owner holds while it calls these functions: a fork takes it first, so that the
/// child finds it free. One owner has such a mutex.
void hold_in_forks(std::mutex& owner);

/// Maps the segment of another process by a descriptor of it; nullptr where that fails. `errno`
/// gives the reason.
std::byte* map_segment(int file, std::size_t bytes);
void unmap_segment(std::byte* data, std::size_t bytes);

}  // namespace hocket::shm
