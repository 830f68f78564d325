// SPDX-License-Identifier: BSD-3-Clause
#include "store/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "hocket/error.hpp"
#include "zarr/tree.hpp"

namespace hocket::store {
namespace {

zarr::File locked(const zarr::Folder& folder) {
    for (;;) {
        zarr::File file = [&] {
            if (auto found = folder.find_to_write(zarr::lock_name)) return std::move(*found);
            return folder.create(zarr::lock_name);
        }();
        if (::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0) {
            // Where the file system has no locks, nobody can be kept out.
            if (errno != EWOULDBLOCK) return file;
            throw Error("the store '" + folder.path() + "' is open for writing by " +
                        folder.text(zarr::lock_name).value_or("another job") +
                        "; wait until that has closed it, or end it");
        }
        // Who held it before may have removed the file since.
        struct stat status {};
        if (::fstat(file.descriptor(), &status) == 0 && status.st_nlink > 0) return file;
    }
}

}  // namespace

std::string this_process() {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    return "process " + std::to_string(::getpid()) + " on host " + host.data();
}

Lock::Lock(std::shared_ptr<const zarr::Folder> folder)
    : folder_(std::move(folder)), file_(locked(*folder_)) {
    const std::string who = this_process();
    if (::ftruncate(file_.descriptor(), 0) != 0) zarr::fail("write", file_.path());
    file_.write(0, std::as_bytes(std::span(who)));
}

Lock::~Lock() {
    try {
        folder_->remove(zarr::lock_name);
    } catch (const Error&) {
        return;  // the lock itself goes with the file
    }
}

}  // namespace hocket::store
