// SPDX-License-Identifier: BSD-3-Clause
// Segments: memory that the processes of one node can map, each as a file without a name (memfd).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::node {

/// A segment of this process.
struct Segment {
    std::byte* data = nullptr;
    std::size_t bytes = 0;  // whole pages
    int file = -1;          // -1: the memory is private, as the system has no memfd for it
    std::int64_t inode = 0;
};

/// A new segment of at least so many bytes, all zero. `data` is nullptr where there is no memory.
/// `name`: the text that /proc/PID/fd shows for its file, after "/memfd:". `shared`: false for
/// private memory.
Segment make_segment(std::size_t bytes, const char* name, bool shared);
void free_segment(const Segment& segment);

/// Maps the segment of another process by a descriptor of it; nullptr where that fails. `errno`
/// tells why.
std::byte* map_segment(int file, std::size_t bytes);
void unmap_segment(std::byte* data, std::size_t bytes);

}  // namespace hocket::node
