// SPDX-License-Identifier: BSD-3-Clause
#include "store/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/platform.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"

namespace hocket::store {
namespace {

zarr::File locked(const zarr::Place& store) {
    const zarr::Folder& folder = *store.folder;
    for (;;) {
        zarr::File file = [&] {
            if (auto found = folder.find_to_write(store.lock())) return std::move(*found);
            return folder.create(store.lock());
        }();
        if (::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0) {
            // On a file system without locks, other jobs cannot be excluded.
            if (errno != EWOULDBLOCK) return file;
            std::string who = folder.text(store.lock()).value_or("");
            if (who.empty() || !text::is_utf8(who)) who = "another job";
            throw Error("the store '" + store.path + "' is open for writing by " + who +
                        "; wait until that has closed it, or end it");
        }
        // The previous holder may have removed the file since.
        struct stat status {};
        if (::fstat(file.descriptor(), &status) != 0 || status.st_nlink == 0) continue;
        if (!folder.was_replaced()) return file;
        // A save gives this lock back after another store has taken the path.
        folder.remove(store.lock());
        zarr::refuse_replaced(store.path);
    }
}

}  // namespace

std::string this_process() {
    return "process " + std::to_string(::getpid()) + " on host " + platform::host_name();
}

Lock::Lock(zarr::Place store) : store_(std::move(store)), file_(locked(store_)) {
    const std::string who = this_process();
    try {
        if (::ftruncate(file_.descriptor(), 0) != 0) zarr::fail("write", file_.path());
        file_.write(0, std::as_bytes(std::span(who)));
    } catch (const Error&) {
        store_.folder->remove(store_.lock());
        throw;
    }
}

Lock::~Lock() {
    try {
        store_.folder->remove(store_.lock());
    } catch (const Error&) {
        return;  // removing the file removes the lock
    }
}

}  // namespace hocket::store
