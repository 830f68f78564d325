// SPDX-License-Identifier: BSD-3-Clause
// The arrays of a store as stored in files, for one process: no MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hocket/layout.hpp"

namespace hocket {

namespace zarr {
class Tree;  // a folder with its metadata; src/zarr/tree.hpp
}

/// The metadata of one array of a store.
struct StoredArray {
    std::string name;  ///< with its groups: "t", "run/t"
    Shape shape;
    std::string dtype;  ///< NumPy's name: "float64", "complex64"; raw bits: "|V3"
    std::int64_t itemsize = 0;
    Shape chunks;       ///< extents of a chunk, the unit of compression
    Shape shards;       ///< extents of one file; empty: every chunk is a file
    std::string codec;  ///< "zstd", "gzip", "blosc", or "none"
    std::string fill;   ///< JSON: the value of elements that no call has written
    std::vector<std::string> dimension_names;  ///< one a dimension; "": no name
    std::string attributes;                    ///< JSON: an object
    int zarr_format = 3;                       ///< 3; 2: read only
};

/// A store that only this process reads. It holds the folder open: if `save` replaces the store
/// meanwhile, this object still reads the earlier one. Cheap to copy.
class StoreFiles {
  public:
    /// @throws Error for a path that is no store of Zarr format 3 or 2, no .npy and no HDF5 file,
    ///         unreadable metadata, and references that leave the store.
    explicit StoreFiles(const std::string& path);

    const std::string& path() const;
    std::vector<std::string> names() const;  ///< sorted
    /// @throws Error if there is no such array; the message names the existing ones.
    const StoredArray& array(const std::string& name) const;
    const std::string& attributes() const;  ///< of the root group, JSON
    /// The job that began to write and never closed the store; "": none.
    const std::string& unfinished() const;

    /// Copies a[box] to `data`, whose elements are `strides` bytes apart, on the threads of the
    /// thread pool. @throws Error for a box outside the shape, damaged files and missing codecs.
    void read(const std::string& name, const IndexBox& box, void* data,
              std::span<const std::int64_t> strides) const;

    /// Internal, for Python: where h5py has a library of HDF5. The system's is tried first.
    static void offer_hdf5(const std::string& path);
    /// Internal: for hocket's own sources.
    explicit StoreFiles(std::shared_ptr<const zarr::Tree> tree) : tree_(std::move(tree)) {}

  private:
    handle::Shared<const zarr::Tree, "StoreFiles"> tree_;
};

}  // namespace hocket
