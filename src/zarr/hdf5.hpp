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

/// Whether the path names an HDF5 file, by its suffix: "run.h5", "run.hdf5", or ".run.h5.new", the
/// temporary name of `save`.
bool is_path(std::string_view path);

struct Contents {
    std::string attributes = "{}";
    std::vector<std::pair<std::string, Metadata>> arrays;
    /// Datasets that stores do not have, as texts, with the reason.
    std::vector<std::pair<std::string, std::string>> others;
};

/// Opens the file that is open, even if its name has been taken by another one. @throws Error
Held open(const File& file, bool writing);
/// Makes a file without datasets. @throws Error if it exists
void make(const Folder& folder, const std::string& file);
/// @throws Error for a file that is no HDF5, or a damaged one
Contents contents(const File& file);

/// The chunks of a dataset for `wanted`; none: its elements are contiguous. @throws Error for
/// options that HDF5 does not have
Metadata make_metadata(const Wanted& wanted, const std::string& file);
void create(const File& file, const std::string& name, const Metadata& array);
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
/// @throws Error for types that stores do not have, naming them
DataType type_of(Id type, bool& big_endian);
/// The attributes of an object as JSON; leaves out those without a counterpart, as references.
std::string attributes_of(Id object);
/// Replaces the attributes that JSON has counterparts of. @throws Error for other values in `json`
void put_attributes(Id object, const std::string& json);
void check_attributes(const std::string& json);
/// The labels of dimensions; "" for each without one.
std::vector<std::string> labels_of(Id dataset, std::size_t dimensions);
void put_labels(Id dataset, const std::vector<std::string>& labels);

}  // namespace hocket::zarr::hdf5
