// SPDX-License-Identifier: BSD-3-Clause
// Stores in one file of the format HDF5 (The HDF Group's file format specification, version 3.0).
//
// HDF5's library reads and writes the metadata. Elements without filters lie at fixed places of the
// file, which the library tells, so hocket's processes read and write them in parallel themselves.
// Other elements pass through the library: each process reads, and one process writes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarr/chunks.hpp"
#include "zarr/hdf5_library.hpp"
#include "zarr/metadata.hpp"

namespace hocket::zarr::hdf5 {

/// Whether the path names an HDF5 file, by its suffix: "run.h5", "run.hdf5", or a name that `save`
/// gives one, as "run.h5.1".
bool is_path(std::string_view path);

constexpr Id none_yet = -1;

struct Contents {
    std::string attributes = "{}";
    std::vector<std::pair<std::string, Metadata>> arrays;
    /// Datasets that stores do not have, as texts, with the reason.
    std::vector<std::pair<std::string, std::string>> others;
};

/// Orders the uses of HDF5's library on a file by all hocket's processes: one writes, or some read.
/// Waits for some seconds at most, so that a stopped process stops no other.
class FileLock {
  public:
    FileLock(const File& file, bool writing);
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

  private:
    const File& file_;
};

/// The bytes by which a change makes a file longer, at most.
struct Growth {
    Size elements = 0;
    bool sparse = false;  ///< the change writes no elements
    /// A new heap, index or header is as long as those of thousands of names, attributes or chunks.
    Size metadata = Size{1} << 20;
};
/// By chunks of so many bytes and their index.
Growth growth_by(std::int64_t chunks, std::int64_t bytes, std::size_t dimensions);

/// An open file.
class Opened {
  public:
    /// Opens the file that is open, even if its name has been taken by another one. @throws Error
    explicit Opened(const File& file);
    /// For a change. @throws Error if the disk has no room for it; then the file stays as it is
    Opened(const File& file, const Growth& growth);
    /// Ends the change. @throws Error
    void flush() const;
    operator Id() const { return held_; }  // NOLINT(google-explicit-constructor)

  private:
    FileLock lock_;  // until the file is closed
    Held held_;
    const File* changed_ = nullptr;
};

/// How all files are opened and made.
Held access_of_file();
/// A path of an open file or folder, whatever has become of its name.
std::string path_of(int descriptor);

/// Makes a file without datasets. @throws Error if it exists
void make(const Folder& folder, const std::string& file);
/// @throws Error for a file that is no HDF5, or a damaged one
Contents contents(const File& file);

/// The chunks of a dataset for `wanted`; none: its elements are contiguous. @throws Error for
/// options that HDF5 does not have
Metadata make_metadata(const Wanted& wanted, const std::string& file);
/// `fresh`: no byte of the file has been freed and could be used again.
void create(const File& file, const std::string& name, const Metadata& array, bool fresh);
void set_attributes(const File& file, const std::string& json);
/// Changes the first extent.
void extend(const File& file, const std::string& name, std::int64_t extent);

/// A box of a dataset to memory and back; on the threads of the pool where it has no filters.
void read_box(const Folder& folder, const std::string& name, const Metadata& array,
              const IndexBox& box, const Memory& to);
void write_box(const Folder& folder, const std::string& name, const Metadata& array,
               const IndexBox& box, const Memory& from, bool sync);

// Of hdf5_values.cpp: types of elements, and attributes.

/// The type of elements in a file. @throws Error
Held file_type(const DataType& type, bool big_endian);
/// The type of elements in memory. Raw bytes keep the tag of their type in the file.
Held memory_type(const DataType& type, Id in_file);
/// @throws Error for types that stores do not have, naming them
DataType type_of(Id type, bool& big_endian);
/// The attributes of an object as JSON; leaves out those without a counterpart, as references.
std::string attributes_of(Id object);
/// Replaces the attributes that JSON has counterparts of. @throws Error for other values in `json`
void put_attributes(Id object, const std::string& json);
void check_attributes(const std::string& json);
/// Whether JSON can hold this text: UTF-8.
bool is_text(const std::string& text);
/// The labels of dimensions; "" for each without one.
std::vector<std::string> labels_of(Id dataset, std::size_t dimensions);
/// `dataset` is `none_yet`: a check alone.
void put_labels(Id dataset, const std::vector<std::string>& labels);

}  // namespace hocket::zarr::hdf5
