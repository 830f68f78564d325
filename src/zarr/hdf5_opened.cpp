// SPDX-License-Identifier: BSD-3-Clause
// An open HDF5 file: locks, and the room on the disk that a change needs.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "base/checked.hpp"
#include "hocket/error.hpp"
#include "zarr/hdf5.hpp"
#include "zarr/hdf5_functions.hpp"

namespace hocket::zarr::hdf5 {
namespace {

constexpr std::chrono::seconds most_waiting{20};  // for a lock

}  // namespace

FileLock::FileLock(const File& file, bool writing) : file_(file) {
    // HDF5 before 1.10.7 has locks of its own, which some file systems do not tell from these.
    if (!H5Pset_file_locking.is_there()) return;
    struct flock whole {};
    whole.l_type = static_cast<short>(writing ? F_WRLCK : F_RDLCK);
    whole.l_whence = SEEK_SET;
    const auto end = std::chrono::steady_clock::now() + most_waiting;
    while (::fcntl(file.descriptor(), F_OFD_SETLK, &whole) != 0 &&
           (errno == EAGAIN || errno == EACCES || errno == EINTR) &&
           std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

FileLock::~FileLock() {
    struct flock whole {};
    whole.l_type = F_UNLCK;
    whole.l_whence = SEEK_SET;
    ::fcntl(file_.descriptor(), F_OFD_SETLK, &whole);
}

namespace {

// The system copies whole pages of a file fastest. Smaller chunks would leave too much space.
constexpr Size worth_a_page = Size{64} << 10;
constexpr Size page = 4096;

// The system refuses to make a file longer than its disk has room for, or than a quota allows. On
// file systems that cannot tell, as NFS before 4.2, the change goes without.
void reserve(const File& file, std::int64_t from, Size bytes) {
    if (::fallocate(file.descriptor(), 0, from, static_cast<off_t>(bytes)) == 0) return;
    if (errno != EOPNOTSUPP && errno != ENOSYS) fail("write", file.path());
}

Held open(const File& file, bool writing) {
    const Held access = access_of_file();
    const auto end = std::chrono::steady_clock::now() + most_waiting;
    // The default driver wants a file's path, which one that another checkpoint has replaced lacks.
    // C's streams read it without; their errors say less.
    bool streams = false;
    std::string why;
    for (;;) {
        try {
            return H5Fopen(path_of(file.descriptor()).c_str(),
                           writing ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
        } catch (const Error& error) {
            if (!streams) why = error.what();
            // HDF5 before 1.10.7 always locks.
            const bool locked = !H5Pset_file_locking.is_there() &&
                                why.find("lock file") != why.npos &&
                                std::chrono::steady_clock::now() <= end;
            if (!locked && (writing || streams))
                throw Error("'" + file.path() + "' cannot be opened as an HDF5 file: " + why);
            if (!locked) {
                H5Pset_fapl_stdio(access);
                streams = true;
                continue;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

// A change that ends in the middle, because the disk is full, leaves metadata of two states, which
// nobody can read. So the file first becomes as long as the change can make it. HDF5 cuts off the
// rest when it closes the file.
Held open_to_change(const File& file, const Growth& growth) {
    const std::int64_t before = file.size();
    try {
        if (growth.sparse) reserve(file, before, growth.metadata);
        reserve(file, before + static_cast<std::int64_t>(growth.sparse ? growth.elements : 0),
                growth.metadata + (growth.sparse ? 0 : growth.elements));
        return open(file, true);
    } catch (const Error&) {
        // Without a lock, the end may be another's by now. The next change cuts off the rest.
        if (H5Pset_file_locking.is_there())
            static_cast<void>(::ftruncate(file.descriptor(), before));
        throw;
    }
}

}  // namespace

// HDF5's own locks would exclude the processes of one job from each other, and every reader that
// keeps a file open would exclude all writers.
Held access_of_file() {
    Held access(H5Pcreate(variable("H5P_CLS_FILE_ACCESS_ID_g")));
    if (H5Pset_file_locking.is_there()) H5Pset_file_locking(access, 0, 1);
    H5Pset_alignment(access, worth_a_page, page);
    return access;
}

std::string path_of(int descriptor) {
    return "/proc/self/fd/" + std::to_string(descriptor);
}

Growth growth_by(std::int64_t chunks, std::int64_t bytes, std::size_t dimensions) {
    constexpr std::int64_t limit = base::max_size / 4;
    const auto all = [&](std::int64_t each) {
        return static_cast<Size>(base::product_up_to(chunks, each, limit));
    };
    Growth out;
    // Large chunks begin at pages. Small ones share blocks of 2 KiB, of which they leave a part.
    out.elements = all(bytes + std::min(bytes, static_cast<std::int64_t>(page)));
    // Nodes of a B-tree are at least half full; a key has 16 bytes and 8 a dimension.
    out.metadata += all(64 + 32 * static_cast<std::int64_t>(dimensions));
    return out;
}

Opened::Opened(const File& file) : lock_(file, false), held_(open(file, false)) {}

Opened::Opened(const File& file, const Growth& growth)
    : lock_(file, true), held_(open_to_change(file, growth)), changed_(&file) {}

void Opened::flush() const {
    try {
        H5Fflush(held_, H5F_SCOPE_GLOBAL);
    } catch (const Error& error) {
        throw Error("'" + changed_->path() +
                    "' could not be written, and may be damaged: " + error.what());
    }
}

}  // namespace hocket::zarr::hdf5
