// SPDX-License-Identifier: BSD-3-Clause
// A store as this process knows it: its folder and its metadata; or one file, .npy or HDF5.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/store_files.hpp"
#include "zarr/files.hpp"
#include "zarr/metadata.hpp"

namespace hocket::zarr {

/// Beside the metadata: the job that has the store open for writing, and the job that has begun to
/// write.
inline const std::string lock_name = ".hocket-lock";
inline const std::string mark_name = ".hocket-unfinished";

/// Whether the path names one file, .npy or HDF5, by its suffix.
bool is_one_file(std::string_view path);

/// The store at a path: its folder, and the file in it if that is the store.
struct Place {
    std::string path;
    std::shared_ptr<const Folder> folder;
    std::string file;  // "": the folder is the store

    /// @throws Error if there is no such folder.
    static Place of(const std::string& path);
    /// Names of further files of the store.
    std::string lock() const { return file.empty() ? lock_name : "." + file + lock_name; }
    std::string mark() const { return file.empty() ? mark_name : "." + file + mark_name; }
    bool is_npy() const;
    bool is_hdf5() const;
};

class Tree {
  public:
    /// Reads the metadata: one file, if the root lists the nodes below it.
    explicit Tree(Place place) : Tree(std::move(place), std::shared_ptr<const File>()) {}
    /// From the text of another process's tree.
    Tree(Place place, const std::string& told) : Tree(std::move(place), told, nullptr) {}
    std::string text() const;

    /// The text of the HDF5 file as it is now.
    std::string read_again() const { return Tree(place_, file_).text(); }
    /// Takes the contents that another tree of this HDF5 file has told. Arrays that are as before
    /// stay where they are.
    void renew(const std::string& told);

    const Folder& folder() const { return *place_.folder; }
    const Place& place() const { return place_; }
    /// The path of the folder, or of the file.
    const std::string& path() const;
    int descriptor() const;
    int format() const { return format_; }
    const std::string& attributes() const { return attributes_; }
    const std::string& unfinished() const { return unfinished_; }
    std::vector<std::string> names() const;
    bool has(const std::string& name) const { return arrays_.count(name) != 0; }
    /// @throws Error if a new array cannot have this name.
    void require_free(const std::string& name) const;
    const Metadata& metadata(const std::string& name) const { return entry(name).metadata; }
    const StoredArray& array(const std::string& name) const { return entry(name).described; }

    /// Opens the one file of the store for writing. @throws Error if another one has its name now
    File file_to_write() const;
    void set(const std::string& name, const Metadata& metadata);
    /// Of the root.
    void set_attributes(const std::string& attributes);
    /// zarr.json of the root, with the metadata of all nodes below it.
    std::string root_text() const;
    /// The groups above an array, outermost first: for "a/b/t" "a" and "a/b".
    static std::vector<std::string> groups_above(const std::string& name);

  private:
    struct Entry {
        Metadata metadata;
        StoredArray described;
    };
    /// `open`: the store's one file, if it is open already.
    Tree(Place place, std::shared_ptr<const File> open);
    Tree(Place place, const std::string& told, std::shared_ptr<const File> open);
    const Entry& entry(const std::string& name) const;
    void read_3(const std::string& root);
    void read_2();
    void read_npy(const std::string& header);
    void read_hdf5(const std::string& told);
    void read_others(std::string_view told);
    void walk(const std::string& path, int depth);
    void add(const std::string& path, const std::string& json);

    Place place_;
    int format_ = 3;
    std::string attributes_ = "{}", unfinished_;
    std::string header_;  // of an .npy file
    std::shared_ptr<const File> file_;
    std::map<std::string, Entry> arrays_;
    std::map<std::string, std::string> others_;  // why an array is none that hocket reads
    std::map<std::string, std::string> unread_;  // metadata of Zarr 3 of these, for other readers
    std::map<std::string, std::string> groups_;  // attributes by path
};

/// @throws Error for an invalid name of an array: empty parts, "..", names that begin with "." or
///         "__", and "zarr.json".
void check_name(const std::string& name);

}  // namespace hocket::zarr
