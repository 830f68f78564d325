// SPDX-License-Identifier: BSD-3-Clause
// Files below a folder that is held open. Every path is resolved from there (openat2), so a folder
// that is replaced by another stays this one, and a symbolic link or `..` that leaves it is
// refused.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::zarr {

/// What this process has asked of files so far, over all stores.
struct FileCounts {
    std::int64_t opened = 0, reads = 0, writes = 0, bytes_read = 0, bytes_written = 0;
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
    /// All of `data`. @throws Error where the file ends before.
    void read(std::int64_t offset, std::span<std::byte> data) const;
    void write(std::int64_t offset, std::span<const std::byte> data) const;
    /// The same of bytes that lie together in the file and in runs in memory, in that order; the
    /// list is used up.
    void read(std::int64_t offset, std::vector<iovec> runs) const;
    void write(std::int64_t offset, std::vector<iovec> runs) const;
    void sync() const;

  private:
    int descriptor_;
    std::string path_;
};

class Folder {
  public:
    /// @throws Error if there is no such folder, or it may not be read.
    static std::shared_ptr<const Folder> open(const std::string& path);
    /// Makes it; its parent must be there. @throws Error if something is there.
    static void make(const std::string& path);

    /// None: there is no such file.
    std::optional<File> find(const std::string& path) const;
    std::optional<File> find_to_write(const std::string& path) const;
    /// For writing; made with the folders above it. `must_be_new`: @throws Error where it is there.
    File create(const std::string& path, bool must_be_new = false) const;
    std::optional<std::string> text(const std::string& path) const;
    /// Beside, then renamed: a reader sees the old text or the new one. `sync`: it is on the disk
    /// before it is seen.
    void replace_text(const std::string& path, std::string_view text, bool sync) const;
    void rename(const std::string& from, const std::string& to) const;
    void remove(const std::string& path) const;  ///< a file, if there is one
    /// The folders in it, sorted.
    std::vector<std::string> folders(const std::string& path) const;
    /// Every file and every folder below it (and itself, as the last) to the disk, bottom up.
    /// `only_folders`: files are there already.
    void sync_folders() const;

    int descriptor() const { return root_.descriptor(); }
    const std::string& path() const { return root_.path(); }

  private:
    explicit Folder(File root) : root_(std::move(root)) {}
    File parent_of(const std::string& path, bool make) const;
    std::optional<File> resolve(const std::string& path, int flags, int mode) const;
    File root_;
};

/// "cannot `what` 'path': No space left on device", by errno.
[[noreturn]] void fail(const std::string& what, const std::string& path);

/// Removes a folder with all that is in it; nothing if there is none. Symbolic links are removed,
/// and not followed.
void remove_folder(const std::string& path);

}  // namespace hocket::zarr
