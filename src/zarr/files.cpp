// SPDX-License-Identifier: BSD-3-Clause
#include "zarr/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/at_end.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"

namespace hocket::zarr {
namespace {

struct Counters {
    std::atomic<std::int64_t> opened{0}, reads{0}, writes{0}, bytes_read{0}, bytes_written{0},
        seeks{0};
};
Counters& counters() {
    static Counters all;
    return all;
}

constexpr std::int64_t longest_text = std::int64_t{1} << 28;

// The largest number of runs in one system call.
std::size_t count_of(std::span<const iovec> runs) {
    return std::min<std::size_t>(runs.size(), IOV_MAX);
}

// Removes the first bytes of the runs, which are done.
void drop(std::span<iovec>& runs, std::size_t bytes) {
    while (!runs.empty() && runs.front().iov_len <= bytes) {
        bytes -= runs.front().iov_len;
        runs = runs.subspan(1);
    }
    if (runs.empty()) return;
    runs.front().iov_base = static_cast<std::byte*>(runs.front().iov_base) + bytes;
    runs.front().iov_len -= bytes;
}

std::string last_of(const std::string& path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

FileCounts file_counts() {
    const Counters& all = counters();
    return {all.opened, all.reads, all.writes, all.bytes_read, all.bytes_written, all.seeks};
}

void refuse_replaced(const std::string& path) {
    throw Error("'" + path +
                "' was replaced meanwhile by another one, into which nothing was written; open it "
                "again");
}

void check_path(const std::string& path) {
    if (path.find('\0') != std::string::npos)
        throw Error("the path '" + path.substr(0, path.find('\0')) +
                    "' goes on after a NUL, which no name of a file has; leave that out");
}

std::string_view original_of(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) return path;
    const std::string_view last = path.substr(dot + 1);
    const bool number = !last.empty() && last.find_first_not_of("0123456789") == last.npos;
    return number || last == "new" || last == "old" ? path.substr(0, dot) : path;
}

void fail(const std::string& what, const std::string& path) {
    const int error = errno;
    std::string text = "cannot " + what + " '" + path + "': " + std::strerror(error);
    if (error == EXDEV)
        text += "; it leads out of its store, by '..' or a symbolic link, which hocket refuses";
    if (error == ELOOP)
        text +=
            "; it is a loop of symbolic links, or one that hocket does not follow; correct the "
            "link";
    if (error == ENOSPC || error == EDQUOT) text += "; what was stored before is as it was";
    if (error == EMFILE || error == ENFILE) text += "; allow more open files (ulimit -n)";
    throw Error(text);
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      end_(other.end_.load()) {}

File::~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

std::int64_t File::size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) fail("look at", path_);
    return status.st_size;
}

void File::count_seek(std::int64_t offset, std::span<const iovec> runs) const {
    std::int64_t end = offset;
    for (const iovec& run : runs) end += static_cast<std::int64_t>(run.iov_len);
    if (end_.exchange(end, std::memory_order_relaxed) != offset) ++counters().seeks;
}

void File::read(std::int64_t offset, std::span<std::byte> data) const {
    read(offset, std::vector<iovec>{{data.data(), data.size()}});
}

void File::write(std::int64_t offset, std::span<const std::byte> data) const {
    write(offset, std::vector<iovec>{{const_cast<std::byte*>(data.data()), data.size()}});
}

void File::read(std::int64_t offset, std::vector<iovec> runs) const {
    ++counters().reads;
    count_seek(offset, runs);
    std::span<iovec> left = runs;
    for (drop(left, 0); !left.empty();) {
        const ssize_t got =
            ::preadv(descriptor_, left.data(), static_cast<int>(count_of(left)), offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail("read", path_);
        if (got == 0) {
            std::size_t missing = 0;
            for (const iovec& run : left) missing += run.iov_len;
            throw Error("'" + path_ + "' ends at byte " + std::to_string(offset) + ", and " +
                        std::to_string(missing) +
                        " bytes more belong there; it was cut off, so restore it from a copy");
        }
        counters().bytes_read += got;
        offset += got;
        drop(left, static_cast<std::size_t>(got));
    }
}

void File::write(std::int64_t offset, std::vector<iovec> runs) const {
    ++counters().writes;
    count_seek(offset, runs);
    std::span<iovec> left = runs;
    for (drop(left, 0); !left.empty();) {
        const ssize_t put =
            ::pwritev(descriptor_, left.data(), static_cast<int>(count_of(left)), offset);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) fail("write", path_);
        counters().bytes_written += put;
        offset += put;
        drop(left, static_cast<std::size_t>(put));
    }
}

void File::sync() const {
    if (::fsync(descriptor_) != 0) fail("put on the disk", path_);
}

bool File::is(const File& other) const {
    struct stat mine {
    }, theirs{};
    if (::fstat(descriptor_, &mine) != 0) fail("look at", path_);
    if (::fstat(other.descriptor_, &theirs) != 0) fail("look at", other.path_);
    return mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino;
}

void Folder::make(const std::string& path) {
    if (::mkdir(path.c_str(), 0777) != 0) fail("make the store", path);
}

std::optional<File> Folder::resolve(const std::string& path, int flags, int mode) const {
    const std::string whole = root_.path() + "/" + path;
    open_how how{};
    flags |= O_CLOEXEC | O_NONBLOCK;  // a pipe would wait for its other end
    how.flags = static_cast<std::uint64_t>(flags);
    how.mode = static_cast<std::uint64_t>(mode);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    long descriptor = ::syscall(SYS_openat2, root_.descriptor(), path.c_str(), &how, sizeof how);
    if (descriptor < 0 && errno == EAGAIN) {
        // A folder above was renamed meanwhile, or a file server has a lease of the file, which it
        // gives back.
        how.flags &= ~static_cast<std::uint64_t>(O_NONBLOCK);
        descriptor = ::syscall(SYS_openat2, root_.descriptor(), path.c_str(), &how, sizeof how);
    }
    if (descriptor < 0 && errno == ENOSYS)  // Linux before 5.6: names are checked, links are not
        descriptor = ::openat(root_.descriptor(), path.c_str(), flags | O_NOFOLLOW, mode);
    if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
    if (descriptor < 0 && errno != ENXIO) fail("open", whole);  // ENXIO: nobody has the pipe open
    File file(static_cast<int>(descriptor), whole);
    struct stat status {};
    if (descriptor >= 0 && ::fstat(file.descriptor(), &status) != 0) fail("look at", whole);
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        throw Error("'" + whole +
                    "' is a pipe, a socket or a device, which a store does not have; remove it");
    ++counters().opened;
    return file;
}

std::optional<File> Folder::find(const std::string& path) const {
    return resolve(path, O_RDONLY, 0);
}

std::optional<File> Folder::find_to_write(const std::string& path) const {
    return resolve(path, O_RDWR, 0);
}

File Folder::parent_of(const std::string& path, bool make) const {
    const std::size_t slash = path.rfind('/');
    const std::string above = slash == std::string::npos ? "." : path.substr(0, slash);
    if (auto found = resolve(above, O_RDONLY | O_DIRECTORY, 0)) return std::move(*found);
    if (!make) fail("open", root_.path() + "/" + above);
    const File grand = parent_of(above, true);
    if (::mkdirat(grand.descriptor(), last_of(above).c_str(), 0777) != 0 && errno != EEXIST)
        fail("make the folder", root_.path() + "/" + above);
    auto made = resolve(above, O_RDONLY | O_DIRECTORY, 0);
    if (!made) fail("open", root_.path() + "/" + above);
    return std::move(*made);
}

File Folder::create(const std::string& path, bool must_be_new) const {
    const int flags = O_RDWR | O_CREAT | (must_be_new ? O_EXCL : O_TRUNC);
    if (auto made = resolve(path, flags, 0666)) return std::move(*made);
    parent_of(path, true);
    auto made = resolve(path, flags, 0666);
    if (!made) fail("make", root_.path() + "/" + path);
    return std::move(*made);
}

std::optional<std::string> Folder::text(const std::string& path) const {
    const auto file = find(path);
    if (!file) return std::nullopt;
    const std::int64_t size = file->size();
    if (size > longest_text)
        throw Error("'" + file->path() + "' has " + std::to_string(size) +
                    " bytes, which is no metadata of a store");
    std::string out(static_cast<std::size_t>(size), '\0');
    file->read(0, std::as_writable_bytes(std::span(out)));
    return out;
}

void Folder::replace_text(const std::string& path, std::string_view text, bool sync) const {
    const std::string beside = path + ".new~";
    try {
        const File file = create(beside);
        file.write(0, std::as_bytes(std::span(text)));
        if (sync) file.sync();
        rename(beside, path);
    } catch (const Error&) {
        remove(beside);
        throw;
    }
    if (sync) parent_of(path, false).sync();
}

void Folder::rename(const std::string& from, const std::string& to) const {
    const File above = parent_of(from, false);
    const File above_to = parent_of(to, false);
    if (::renameat(above.descriptor(), last_of(from).c_str(), above_to.descriptor(),
                   last_of(to).c_str()) != 0)
        fail("rename to", root_.path() + "/" + to);
}

// ext4 starts to write a file to the disk when a rename replaces another file by it, but not when
// an exchange does.
void Folder::put_in_place(const std::string& from, const std::string& to) const {
    {
        const File above = parent_of(from, false);
        const File above_to = parent_of(to, false);
        if (::renameat2(above.descriptor(), last_of(from).c_str(), above_to.descriptor(),
                        last_of(to).c_str(), RENAME_EXCHANGE) != 0)
            return rename(from, to);
    }
    remove(from);
}

void Folder::remove(const std::string& path) const {
    const std::size_t slash = path.rfind('/');
    const auto above = resolve(slash == std::string::npos ? "." : path.substr(0, slash),
                               O_RDONLY | O_DIRECTORY, 0);
    if (!above) return;
    if (::unlinkat(above->descriptor(), last_of(path).c_str(), 0) != 0 && errno != ENOENT)
        fail("remove", root_.path() + "/" + path);
}

void Folder::require_there() const {
    for (const char* const metadata : {"zarr.json", ".zgroup", ".zarray"})
        if (::faccessat(root_.descriptor(), metadata, F_OK, 0) == 0) return;
    throw Error("the store '" + root_.path() +
                "' was replaced and removed after it was opened here; open it again");
}

namespace {

// Names of the folders in an open folder.
std::vector<std::string> folders_in(const File& folder) {
    const int copy = ::openat(folder.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const open = copy < 0 ? nullptr : ::fdopendir(copy);
    if (open == nullptr) fail("list", folder.path());
    const base::AtEnd closed([open] { ::closedir(open); });
    std::vector<std::string> out;
    while (const dirent* entry = ::readdir(open)) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        struct stat status {};
        if (::fstatat(folder.descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            (S_ISDIR(status.st_mode) || S_ISLNK(status.st_mode)))
            out.push_back(name);
    }
    std::sort(out.begin(), out.end());
    return out;
}

void sync_below(const File& folder) {
    for (const std::string& name : folders_in(folder)) {
        const int below = ::openat(folder.descriptor(), name.c_str(),
                                   O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (below < 0) continue;
        sync_below(File(below, folder.path() + "/" + name));
    }
    folder.sync();
}

}  // namespace

std::vector<std::string> Folder::folders(const std::string& path) const {
    const auto folder = resolve(path.empty() ? "." : path, O_RDONLY | O_DIRECTORY, 0);
    auto out = folder ? folders_in(*folder) : std::vector<std::string>{};
    std::erase_if(out, [](const std::string& name) { return !text::is_utf8(name); });
    return out;
}

void Folder::sync_folders() const {
    sync_below(root_);
}

}  // namespace hocket::zarr
