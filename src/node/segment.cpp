// SPDX-License-Identifier: BSD-3-Clause
#include "node/segment.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hocket::node {
namespace {

constexpr std::size_t page = 4096;

// Asked first, because a file that grows beyond what the process may write ends it by a signal.
bool lengthen(int file, std::size_t bytes) {
    rlimit longest{};
    if (getrlimit(RLIMIT_FSIZE, &longest) == 0 && longest.rlim_cur != RLIM_INFINITY &&
        bytes > longest.rlim_cur)
        return false;
    return ftruncate(file, static_cast<off_t>(bytes)) == 0;
}

std::byte* mapped(int file, std::size_t bytes) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

}  // namespace

Segment make_segment(std::size_t bytes, const char* name, bool shared) {
    Segment segment;
    segment.bytes = (bytes + page - 1) / page * page;
    if (shared) segment.file = memfd_create(name, MFD_CLOEXEC);
    if (segment.file >= 0 && !lengthen(segment.file, segment.bytes)) {
        close(segment.file);
        segment.file = -1;
    }
    segment.data = mapped(segment.file, segment.bytes);
    struct stat made {};
    if (segment.file >= 0 && fstat(segment.file, &made) == 0)
        segment.inode = static_cast<std::int64_t>(made.st_ino);
    if (segment.data == nullptr && segment.file >= 0) close(segment.file);
    return segment;
}

void free_segment(const Segment& segment) {
    munmap(segment.data, segment.bytes);
    if (segment.file >= 0) close(segment.file);
}

std::byte* map_segment(int file, std::size_t bytes) {
    return mapped(file, bytes);
}

void unmap_segment(std::byte* data, std::size_t bytes) {
    munmap(data, bytes);
}

}  // namespace hocket::node
