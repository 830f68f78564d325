// SPDX-License-Identifier: BSD-3-Clause
// The arrays of a store as its files have them, for one process: no MPI.
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

/// One array of a store, by its metadata.
struct StoredArray {
    std::string name;  ///< of groups and the array: "t", "run/t"
    Shape shape;
    std::string dtype;  ///< NumPy's name: "float64", "complex64"; raw bits: "|V3"
    std::int64_t itemsize = 0;
    Shape chunks;       ///< extents of what is compressed as one
    Shape shards;       ///< extents of one file; empty: every chunk is a file
    std::string codec;  ///< "zstd", "gzip", "blosc", or "none"
    std::string fill;   ///< JSON: the value of elements that were never written
    std::vector<std::string> dimension_names;  ///< one a dimension; "": it has none
    std::string attributes;                    ///< JSON: an object
    int zarr_format = 3;                       ///< 3; 2: read only
};

/// A store that this process alone looks into. It holds the folder open: a store that is replaced
/// by `save` meanwhile stays what it was. A cheap value to copy.
class StoreFiles {
  public:
    /// @throws Error for a path that is no store of Zarr format 3 or 2, metadata that cannot be
    ///         read, and what a store refers to outside of itself.
    explicit StoreFiles(const std::string& path);

    const std::string& path() const;
    std::vector<std::string> names() const;  ///< sorted
    /// @throws Error if there is no such array, naming those there are.
    const StoredArray& array(const std::string& name) const;
    const std::string& attributes() const;  ///< of the root group, JSON
    /// Whoever has begun to write and has not closed the store; "": nobody.
    const std::string& unfinished() const;

    /// Copies a[box] to `data`, whose elements are `strides` bytes apart. On the threads of the one
    /// pool. @throws Error for a box outside the shape, damaged files and codecs that are not here.
    void read(const std::string& name, const IndexBox& box, void* data,
              std::span<const std::int64_t> strides) const;

    /// For the rooms of the library only.
    explicit StoreFiles(std::shared_ptr<const zarr::Tree> tree) : tree_(std::move(tree)) {}

  private:
    std::shared_ptr<const zarr::Tree> tree_;
};

}  // namespace hocket
