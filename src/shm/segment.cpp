// SPDX-License-Identifier: BSD-3-Clause
#include "shm/segment.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/platform.hpp"
#include "shm/mapping.hpp"

namespace hocket::shm {
namespace {

constexpr std::size_t page = 4096;
// Of Linux 5.1 (F_SEAL_FUTURE_WRITE): unlike F_SEAL_WRITE, it leaves mappings as they are, so that
// the memory can be used again. Headers may be older.
constexpr int seal_future_write = 0x10;
// Of Linux 6.1 (MADV_COLLAPSE): makes huge pages also where the system's setting for shared memory
// (transparent_hugepage/shmem_enabled) is `never`, as it is by default.
constexpr int collapse = 25;

// All shared mappings of this process, for its forks; file -1: of another process. The owner's
// mutex comes first.
std::mutex* owner_mutex = nullptr;
std::mutex registered_mutex;
std::vector<Segment>& registered() {
    static auto* const made = new std::vector<Segment>;  // outlives every array
    return *made;
}
std::vector<Segment>::iterator registered_at(const std::byte* data) {
    return std::find_if(registered().begin(), registered().end(),
                        [&](const Segment& segment) { return segment.data == data; });
}

// During a fork:
bool fork_copies = false;
std::array<int, 2> copies_done{-1, -1};  // a pipe: the child has made its copies

// The functions from here up to `in_child` are the handlers of a fork. In the child they may only
// make system calls, because other threads of the parent may have held locks.

std::size_t bytes_in_memory(const Segment& segment) {
    struct stat found {};
    constexpr std::size_t block = 512;
    return fstat(segment.file, &found) == 0 ? static_cast<std::size_t>(found.st_blocks) * block
                                            : segment.bytes;
}

void release() {
    registered_mutex.unlock();
    if (owner_mutex != nullptr) owner_mutex->unlock();
}

void before_fork() {
    if (owner_mutex != nullptr) owner_mutex->lock();
    registered_mutex.lock();
    std::size_t bytes = 0;
    for (const auto& each : registered())
        if (each.file >= 0 && each.used) bytes += bytes_in_memory(each);
    fork_copies = bytes > 0 && bytes <= most_copied && pipe2(copies_done.data(), O_CLOEXEC) == 0;
}

void in_parent() {
    if (fork_copies) {
        close(copies_done[1]);
        char word = 0;
        while (read(copies_done[0], &word, 1) < 0 && errno == EINTR) continue;
        close(copies_done[0]);
    }
    release();
}

// Untouched pages stay untouched in the copy.
bool copy(const Segment& segment) {
    void* const made = mmap(nullptr, segment.bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return false;
    const auto end = static_cast<off_t>(segment.bytes);
    for (off_t at = 0; at < end;) {
        const off_t first = lseek(segment.file, at, SEEK_DATA);
        if (first < 0 && errno == ENXIO) break;  // no more data
        const off_t from = std::max<off_t>(first, at);
        const off_t hole = first < 0 ? end : lseek(segment.file, from, SEEK_HOLE);
        at = hole < 0 ? end : hole;
        std::memcpy(static_cast<std::byte*>(made) + from, segment.data + from,
                    static_cast<std::size_t>(at - from));
    }
    return mremap(made, segment.bytes, segment.bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                  segment.data) != MAP_FAILED;
}

void make_private(const Segment& segment, bool copies) {
    if (copies && segment.file >= 0 && segment.used && copy(segment)) return;
    const int kind = segment.file >= 0 ? MAP_PRIVATE : MAP_PRIVATE | MAP_ANONYMOUS;
    const void* made = mmap(segment.data, segment.bytes, PROT_READ | PROT_WRITE,
                            kind | MAP_FIXED | MAP_NORESERVE, segment.file, 0);
    // An error in the child is better than silently shared memory.
    if (made == MAP_FAILED) mprotect(segment.data, segment.bytes, PROT_READ);
}

void in_child() {
    for (const auto& each : registered()) make_private(each, fork_copies);
    registered().clear();  // forks of the child copy these as other memory
    if (fork_copies) {
        const char word = 0;
        [[maybe_unused]] const auto written = write(copies_done[1], &word, 1);
        close(copies_done[0]);
        close(copies_done[1]);
    }
    release();
}

std::byte* mapped(int file, std::size_t bytes, int kind) {
    const auto map = [&](void* at, int fixed) {
        void* const made = mmap(at, bytes, PROT_READ | PROT_WRITE, kind | fixed, file, 0);
        return made == MAP_FAILED ? nullptr : static_cast<std::byte*>(made);
    };
    if (bytes < huge_page) return map(nullptr, 0);
    // The system aligns a mapping only if its settings give it huge pages.
    const std::size_t reserved = bytes + huge_page;
    void* const taken =
        mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (taken == MAP_FAILED) return map(nullptr, 0);
    auto* const begin = static_cast<std::byte*>(taken);
    const std::size_t before = (0 - reinterpret_cast<std::uintptr_t>(begin)) % huge_page;
    std::byte* const at = map(begin + before, MAP_FIXED);
    const int problem = errno;
    // A mapping that failed may have left a hole, in which another thread may map meanwhile.
    const auto of_system = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t end = before + (bytes + of_system - 1) / of_system * of_system;
    if (before > 0) munmap(begin, before);
    if (end < reserved) munmap(begin + end, reserved - end);
    errno = problem;
    return at;
}

// With the register locked, so that no fork intervenes.
std::byte* map_shared(int file, std::size_t bytes, bool mine) {
    static const bool handled =
        platform::simulated || pthread_atfork(before_fork, in_parent, in_child) == 0;
    static_cast<void>(handled);
    const std::lock_guard lock(registered_mutex);
    std::byte* const data = mapped(file, bytes, MAP_SHARED);
    if (data != nullptr) registered().push_back({data, bytes, mine ? file : -1});
    return data;
}

void unmap_shared(std::byte* data, std::size_t bytes) {
    const std::lock_guard lock(registered_mutex);
    if (const auto found = registered_at(data); found != registered().end())
        registered().erase(found);
    munmap(data, bytes);
}

// Checks the limit first, because growing a file beyond it ends the process by a signal.
bool lengthen(int file, std::size_t bytes) {
    rlimit longest{};
    if (getrlimit(RLIMIT_FSIZE, &longest) == 0 && longest.rlim_cur != RLIM_INFINITY &&
        bytes > longest.rlim_cur)
        return false;
    return ftruncate(file, static_cast<off_t>(bytes)) == 0;
}

bool seal(int file) {
    return fcntl(file, F_ADD_SEALS,
                 F_SEAL_SHRINK | F_SEAL_GROW | seal_future_write | F_SEAL_SEAL) == 0;
}

Segment new_segment(std::size_t bytes, const char* name, bool sealed) {
    Segment segment;
    segment.bytes = (bytes + page - 1) / page * page;
    if (!platform::simulated && !forbidden(Mechanism::memfd)) {
        segment.file = memfd_create(name, MFD_CLOEXEC | (sealed ? MFD_ALLOW_SEALING : 0U));
        if (segment.file < 0) segment.error = errno;
    }
    if (segment.file >= 0 && !lengthen(segment.file, segment.bytes)) {
        segment.error = EFBIG;
        close(segment.file);
        segment.file = -1;
    }
    if (segment.file < 0) {
        segment.data = mapped(-1, segment.bytes, MAP_PRIVATE | MAP_ANONYMOUS);
        return segment;
    }
    segment.data = map_shared(segment.file, segment.bytes, true);
    struct stat made {};
    if (fstat(segment.file, &made) == 0) segment.inode = static_cast<std::int64_t>(made.st_ino);
    if (segment.data != nullptr && sealed && !seal(segment.file)) {
        free_segment(segment);
        segment.file = -1;
        segment.data = mapped(-1, segment.bytes, MAP_PRIVATE | MAP_ANONYMOUS);
        return segment;
    }
    if (segment.data == nullptr) close(segment.file);
    return segment;
}

}  // namespace

Segment make_segment(std::size_t bytes, const char* name) {
    return new_segment(bytes, name, false);
}

Segment make_sealed_segment(std::size_t bytes, const char* name) {
    return new_segment(bytes, name, true);
}

void free_segment(const Segment& segment) {
    unmap_shared(segment.data, segment.bytes);
    if (segment.file >= 0) close(segment.file);
}

void take_huge_pages(std::byte* data, std::size_t bytes) {
    for (std::size_t at = 0; at + huge_page <= bytes; at += huge_page) {
        // The system collapses only memory that has a page.
        *reinterpret_cast<volatile std::byte*>(data + at) = std::byte{0};
        if (madvise(data + at, huge_page, collapse) != 0) return;
    }
}

void use_segment(const Segment& segment, bool used) {
    const std::lock_guard lock(registered_mutex);
    if (const auto found = registered_at(segment.data); found != registered().end())
        found->used = used;
}

std::byte* map_segment(int file, std::size_t bytes) {
    return map_shared(file, bytes, false);
}

void unmap_segment(std::byte* data, std::size_t bytes) {
    unmap_shared(data, bytes);
}

void hold_in_forks(std::mutex& owner) {
    const std::lock_guard lock(registered_mutex);
    owner_mutex = &owner;
}

}  // namespace hocket::shm
