// SPDX-License-Identifier: BSD-3-Clause
// Opening folders that other programs replace and remove at the same time. A program that has a
// folder open holds a shared lock of it, and the one that removes it an exclusive lock.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "hocket/error.hpp"
#include "zarr/files.hpp"

namespace hocket::zarr {

bool Folder::was_replaced() const {
    struct stat mine {
    }, there{};
    if (::fstat(descriptor(), &mine) != 0) fail("look at", path());
    if (mine.st_nlink == 0) return true;
    // A folder that was renamed, and has no successor yet, is whole.
    if (::stat(path().c_str(), &there) != 0) return false;
    return mine.st_dev != there.st_dev || mine.st_ino != there.st_ino;
}

std::shared_ptr<const Folder> Folder::open(const std::string& path) {
    constexpr int most_tries = 100;
    for (int tries = 1;; ++tries) {
        File root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), path);
        std::error_code error;
        if (root.descriptor() < 0 && errno == ENOTDIR && std::filesystem::exists(path, error))
            throw Error(
                "'" + path +
                "' is a file, and a store is a folder, or a file in .npy, .h5 or .hdf5; give "
                "the path of one, or rename the file, or the link to it");
        if (root.descriptor() < 0) fail("open the store", path);
        const bool locked =
            ::flock(root.descriptor(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        std::shared_ptr<const Folder> folder(new Folder(std::move(root)));
        // Another program may have removed the folder before the lock was taken, or be about to.
        const bool stays = !folder->was_replaced();
        // A program other than hocket may hold the lock for long, and removes nothing.
        if (stays && (locked || tries >= most_tries)) return folder;
        if (tries >= most_tries) refuse_replaced(path);
    }
}

void remove_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (error) {
        errno = error.value();
        fail("remove", path);
    }
}

bool remove_store(const std::string& path) {
    const File root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), path);
    if (root.descriptor() >= 0) {
        if (::flock(root.descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            return false;
        ::unlinkat(root.descriptor(), "zarr.json", 0);
    }
    remove_folder(path);
    return true;
}

}  // namespace hocket::zarr
