// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints: written beside the old one, synchronised to the disk, and then swapped with it in
// one step.
//
// 0. Process 0 locks NAME, so one job at a time replaces it, and the old checkpoint, so no job
//    writes into it.
// 1. Every process writes its files into `.NAME.new` beside NAME and synchronises them to the disk.
// 2. Process 0 synchronises the folders, bottom up. All processes agree that there was no error.
// 3. Process 0 exchanges NAME and `.NAME.new` (renameat2), so NAME is the old one or the new one at
//     every moment, and synchronises the folder above.
// 4. `.NAME.new` is now the old one: it is removed, or becomes NAME.1. While programs read it, it
//    is `.NAME.read1`, which a later save removes.
//
// If NAME is a symbolic link, all of this happens where it leads, and the link stays.
//
// If the file system cannot exchange names, NAME becomes `.NAME.old` before `.NAME.new` becomes
// NAME; between the two, readers find `.NAME.old`.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/text.hpp"
#include "store/move.hpp"
#include "store/session.hpp"
#include "zarr/npy.hpp"

namespace hocket {
namespace {

std::string without_last_slashes(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
}

struct Names {
    std::string path, folder, name, fresh, old, read;

    explicit Names(std::string given) : path(without_last_slashes(std::move(given))) {
        zarr::check_path(path);
        const std::size_t slash = path.rfind('/');
        folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
        name = path.substr(slash == std::string::npos ? 0 : slash + 1);
        if (name.empty() || name == "." || name == "..")
            throw Error("'" + path + "' is no path of a checkpoint; give the name of a new folder");
        const std::string beside = slash == std::string::npos ? "" : path.substr(0, slash + 1);
        fresh = beside + "." + name + ".new";
        old = beside + "." + name + ".old";
        read = "." + name + ".read";
    }
    std::string kept(std::int64_t number) const { return path + "." + std::to_string(number); }
    /// The name of a former checkpoint that programs still read.
    std::string read_by_others(std::int64_t number) const {
        return folder + "/" + read + std::to_string(number);
    }
    bool is_read_by_others(const std::string& other) const {
        return other.size() > read.size() && other.starts_with(read) &&
               other.find_first_not_of("0123456789", read.size()) == other.npos;
    }
};

bool is_there(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

// The path that a symbolic link names, which may not exist. @throws Error for a loop of links
std::string behind_links(std::string path) {
    constexpr int most_links = 40;  // Linux's limit
    const std::string given = path;
    std::error_code error;
    for (int links = 0;; ++links) {
        // With a final "/" the system looks at the folder behind a link, not at the link.
        path = without_last_slashes(std::move(path));
        const std::filesystem::path at(path);
        if (!std::filesystem::is_symlink(at, error)) return path;
        errno = ELOOP;
        if (links == most_links) zarr::fail("follow the symbolic link", given);
        const std::filesystem::path to = std::filesystem::read_symlink(at, error);
        errno = error.value();
        if (error) zarr::fail("follow the symbolic link", path);
        path = at.parent_path() / to;  // `to`, if it is absolute
    }
}

void rename(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) zarr::fail("rename '" + from + "' to", to);
}

void sync_folder(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) zarr::fail("open", path);
    zarr::File(descriptor, path).sync();
}

void discard(const Names& names, const std::string& path) {
    if (zarr::remove_store(path)) return;
    std::int64_t number = 1;
    while (is_there(names.read_by_others(number))) ++number;
    rename(path, names.read_by_others(number));
}

// @throws Error if another file or folder has the path.
void require_checkpoint(const Names& names, const std::string& path) {
    const bool file = zarr::is_one_file(names.path);
    std::error_code error;  // of a loop of links, which is no folder
    if (is_there(path) &&
        (file ? std::filesystem::is_directory(path, error) : !is_there(path + "/zarr.json")))
        throw Error("'" + path +
                    "' is there and is no checkpoint; give another path, or remove it");
}

// Removes the remains of killed jobs and of programs that have read old ones.
void clear(const Names& names, std::int64_t keep) {
    require_checkpoint(names, names.path);
    if (keep > 0) require_checkpoint(names, names.kept(keep));  // it will be removed
    std::error_code error;
    const std::filesystem::directory_iterator all(names.folder, error);
    if (error) {
        errno = error.value();
        zarr::fail("list", names.folder);
    }
    for (const auto& entry : all)
        if (names.is_read_by_others(entry.path().filename()))
            static_cast<void>(zarr::remove_store(entry.path()));
    discard(names, names.fresh);
    if (is_there(names.path)) return discard(names, names.old);
    if (is_there(names.old)) rename(names.old, names.path);
}

// Invariant: between `begin` and the end of the save no other job changes these names, because it
// needs the first lock.
void begin(const Names& names, std::int64_t keep, store::Session& session) {
    session.path_lock = std::make_shared<store::Lock>(
        zarr::Place{names.path, zarr::Folder::open(names.folder), names.name});
    clear(names, keep);
    if (is_there(names.path) && !zarr::is_one_file(names.path))
        session.old_lock = std::make_shared<store::Lock>(zarr::Place::of(names.path));
}

// Returns the new path of the old checkpoint; "": there was none.
std::string take_place(const Names& names) {
    if (!is_there(names.path)) {
        rename(names.fresh, names.path);
        sync_folder(names.folder);
        return "";
    }
    if (::renameat2(AT_FDCWD, names.fresh.c_str(), AT_FDCWD, names.path.c_str(), RENAME_EXCHANGE) ==
        0) {
        sync_folder(names.folder);
        return names.fresh;
    }
    if (errno != EINVAL && errno != ENOSYS) zarr::fail("rename to", names.path);
    rename(names.path, names.old);
    rename(names.fresh, names.path);
    sync_folder(names.folder);
    return names.old;
}

void retire(const Names& names, const std::string& old, std::int64_t keep) {
    if (old.empty()) return;
    if (keep == 0) return discard(names, old);
    std::int64_t number = 1;
    while (number < keep && is_there(names.kept(number))) ++number;
    discard(names, names.kept(number));
    for (; number > 1; --number) rename(names.kept(number - 1), names.kept(number));
    rename(old, names.kept(1));
    sync_folder(names.folder);
}

std::string kind_of(const std::string& path) {
    return zarr::is_npy(path)        ? "an .npy file"
           : zarr::is_one_file(path) ? "an HDF5 file"
                                     : "a folder of Zarr's";
}

// A path says what kind of store it is, so one that leads to another kind could not be loaded.
// @throws Error
void require_same_kind(const std::string& path, const std::string& resolved) {
    if (kind_of(path) != kind_of(resolved))
        throw Error("'" + path + "' is the name of " + kind_of(path) +
                    ", and a symbolic link to '" + resolved + "', which is the name of " +
                    kind_of(resolved) + "; correct the link, or save to where it leads");
}

void require_one(const std::string& path, std::size_t arrays) {
    if (arrays > 1)
        throw Error("'" + path + "' is an .npy file, which has one array, and you save " +
                    std::to_string(arrays) + "; save into a store of Zarr");
}

std::string listed(const NamedArrays& arrays) {
    std::string out;
    for (const auto& [name, array] : arrays)
        out += (out.empty() ? "" : ", ") + name + " " + array.dtype().name + " " +
               text::tuple(array.layout().shape());
    return out.substr(0, 400);
}

Layout balanced_rows(const Shape& shape, std::int64_t processes) {
    if (shape.empty()) return {shape, "()"};
    std::string dist = "(BALANCED";
    for (std::size_t d = 1; d < shape.size(); ++d) dist += ", *";
    return {shape, dist + ")", {processes}};
}

}  // namespace

void save(const std::string& path, const NamedArrays& arrays, const SaveOptions& options) {
    if (arrays.empty()) throw Error("there is nothing to save: give one array at least");
    const Comm comm = arrays.front().second.comm();
    const std::string call = "save('" + path + "': " + listed(arrays) + ")";
    const auto names = std::make_shared<std::optional<Names>>();
    auto session =
        std::make_shared<store::Session>(store::Session{comm, "", "w", {}, {}, false, true});
    const std::string resolved = store::on_first(
        comm, call,
        [&] {
            zarr::check_path(path);
            if (options.keep < 0)
                throw Error(std::to_string(options.keep) + " checkpoints cannot be kept");
            for (const auto& [name, array] : arrays)
                if (!(array.comm() == comm))
                    throw MismatchError("'" + name +
                                        "' is on another communicator than the first array; make "
                                        "all of them on the same one");
        },
        [names, path, session, keep = options.keep, count = arrays.size()] {
            names->emplace(behind_links(path));
            const std::string& place = (*names)->path;
            require_same_kind(without_last_slashes(path), place);
            if (zarr::is_npy(place)) require_one(place, count);
            begin(**names, keep, *session);
            return place;
        },
        options.deadline);
    names->emplace(resolved);
    session->path = (*names)->fresh;
    Store fresh = Store::open(session, options.deadline);
    try {
        fresh.set_attributes(options.attributes, options.deadline);
        for (const auto& [name, array] : arrays) {
            CreateOptions made;
            made.codec = options.codec;
            fresh.create(name, array.layout().shape(), array.dtype(), made, options.deadline);
            StoreOptions moved;
            moved.max_buffer = options.max_buffer;
            moved.deadline = options.deadline;
            fresh.write(name, array, moved);
        }
        store::on_first(
            comm, call, [] {},
            [names, session, keep = options.keep] {
                session->lock.reset();
                // The folder of a file is put on the disk with its new name.
                if (!zarr::is_one_file(names->value().path))
                    session->tree->folder().sync_folders();
                else if (session->tree->place().is_hdf5())
                    session->tree->file_to_write().sync();  // its metadata
                const std::string old = take_place(**names);
                session->old_lock.reset();
                retire(**names, old, keep);
                session->path_lock.reset();
                return std::string();
            },
            options.deadline);
    } catch (const DeadlineError&) {
        throw;  // the operation goes on, and needs the folder
    } catch (const std::exception&) {
        const bool mine = session->first() && session->lock != nullptr;
        fresh.leave();
        if (mine) zarr::remove_folder((*names)->fresh);
        session->old_lock.reset();
        session->path_lock.reset();
        throw;
    }
    fresh.leave();
}

std::string checkpoint_path(const std::string& path, const Comm& comm, Deadline deadline) {
    return store::on_first(
        comm, "load('" + path + "')", [] {},
        [path] {
            const Names names(behind_links(path));
            return !is_there(names.path) && is_there(names.old) ? names.old : path;
        },
        deadline);
}

NamedArrays load(const std::string& path, const Comm& comm, const LayoutOf& layout_of,
                 const LoadOptions& options) {
    Store stored =
        Store::open(checkpoint_path(path, comm, options.deadline), "r", comm, options.deadline);
    NamedArrays out;
    for (const std::string& name : options.names.empty() ? stored.names() : options.names) {
        std::optional<Array> array;
        store::on_first(
            comm, "load('" + path + "', " + name + ")",
            [&] {
                const StoredArray& each = stored.array(name);
                const Layout layout =
                    layout_of ? layout_of(each) : balanced_rows(each.shape, comm.size());
                array.emplace(Array::empty(layout, {each.dtype, each.itemsize}, comm));
            },
            [] { return std::string(); }, options.deadline);
        StoreOptions moved;
        moved.max_buffer = options.max_buffer;
        moved.deadline = options.deadline;
        stored.read(name, *array, moved);
        out.emplace_back(name, *array);
    }
    stored.leave();
    return out;
}

void load(const std::string& path, const NamedArrays& arrays, Deadline deadline) {
    if (arrays.empty()) throw Error("there is nothing to load: give one array at least");
    const Comm comm = arrays.front().second.comm();
    Store stored = Store::open(checkpoint_path(path, comm, deadline), "r", comm, deadline);
    StoreOptions moved;
    moved.deadline = deadline;
    for (const auto& [name, array] : arrays) stored.read(name, array, moved);
    stored.leave();
}

}  // namespace hocket
