// SPDX-License-Identifier: BSD-3-Clause
// Files below an open folder. Every path is resolved from it (openat2), so after a replacement the
// object still refers to the old folder, and symbolic links or `..` that leave the folder are
// refused.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::zarr {

/// The numbers of file operations of this process so far, over all stores. `seeks`: reads and
/// writes that do not begin where the last one of the open file ended.
struct FileCounts {
    std::int64_t opened = 0, reads = 0, writes = 0, bytes_read = 0, bytes_written = 0, seeks = 0;
};
FileCounts file_counts();

class File {
  public:
    File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
    File(File&& other) noexcept;
    File& operator=(File&&) = delete;
    ~File();

    int descriptor() const { return descriptor_; }
    const std::string& path() const { return path_; }
    std::int64_t size() const;
    /// Reads all of `data`. @throws Error if the file ends before.
    void read(std::int64_t offset, std::span<std::byte> data) const;
    void write(std::int64_t offset, std::span<const std::byte> data) const;
    /// Reads contiguous bytes of the file into runs in memory, in that order; destroys the list.
    void read(std::int64_t offset, std::vector<iovec> runs) const;
    void write(std::int64_t offset, std::vector<iovec> runs) const;
    void sync() const;
    /// Whether both are one file of the disk.
    bool is(const File& other) const;

  private:
    void count_seek(std::int64_t offset, std::span<const iovec> runs) const;

    int descriptor_;
    std::string path_;
    mutable std::atomic<std::int64_t> end_{0};  // of the last read or write
};

class Folder {
  public:
    /// Holds a shared lock of the folder, so that `remove_store` leaves it alone.
    /// @throws Error if there is no such folder, or it is unreadable, or others replace it again
    ///         and again.
    static std::shared_ptr<const Folder> open(const std::string& path);
    /// Whether it was removed, or its path leads to another folder now.
    bool was_replaced() const;
    /// Makes the folder; its parent must exist. @throws Error if the path exists.
    static void make(const std::string& path);

    /// None: there is no such file.
    std::optional<File> find(const std::string& path) const;
    std::optional<File> find_to_write(const std::string& path) const;
    /// Opens a file for writing; makes it and the folders above it. `must_be_new`: @throws Error if
    /// it exists.
    File create(const std::string& path, bool must_be_new = false) const;
    std::optional<std::string> text(const std::string& path) const;
    /// Writes beside the file, then renames: a reader sees the old text or the new one. `sync`: the
    /// text is on the disk before it is visible.
    void replace_text(const std::string& path, std::string_view text, bool sync) const;
    void rename(const std::string& from, const std::string& to) const;
    /// As `rename`, for a file that is not on the disk yet: leaves the time of that to the system.
    void put_in_place(const std::string& from, const std::string& to) const;
    void remove(const std::string& path) const;  ///< a file, if there is one
    /// @throws Error if `remove_store` has removed the folder, so that no file is there any more.
    void require_there() const;
    /// The folders in it, sorted, but those whose names are no UTF-8, which no store has.
    std::vector<std::string> folders(const std::string& path) const;
    /// Synchronises every file and every folder below it (and itself, as the last) to the disk,
    /// bottom up. `only_folders`: the files already are.
    void sync_folders() const;

    int descriptor() const { return root_.descriptor(); }
    const std::string& path() const { return root_.path(); }

  private:
    explicit Folder(File root) : root_(std::move(root)) {}
    File parent_of(const std::string& path, bool make) const;
    std::optional<File> resolve(const std::string& path, int flags, int mode) const;
    File root_;
};

/// @throws Error: another file or store has this path now.
[[noreturn]] void refuse_replaced(const std::string& path);

/// @throws Error for a path with a NUL, at which the system would end it.
void check_path(const std::string& path);

/// The path without what `save` adds to it: ".new", ".old", or the number of a kept checkpoint.
std::string_view original_of(std::string_view path);

/// "cannot `what` 'path': No space left on device", by errno.
[[noreturn]] void fail(const std::string& what, const std::string& path);

/// Removes a folder with its contents; does nothing if there is none. Removes symbolic links, and
/// does not follow them.
void remove_folder(const std::string& path);

/// Removes a store, or a file. Returns false, and removes nothing, while a reader has it open. Its
/// metadata goes first, so that readers without a lock (on another host) can tell.
bool remove_store(const std::string& path);

}  // namespace hocket::zarr
