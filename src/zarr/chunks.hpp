// SPDX-License-Identifier: BSD-3-Clause
// Reads boxes of an array from its files, and writes them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "zarr/boxes.hpp"
#include "zarr/files.hpp"
#include "zarr/shard.hpp"

namespace hocket::zarr {

/// Memory of a box of elements: `data` is the address of the element at box.start.
struct Memory {
    std::byte* data;
    Shape strides;  // bytes

    std::byte* at(const IndexBox& box, const Shape& index) const {
        std::byte* out = data;
        for (std::size_t d = 0; d < strides.size(); ++d)
            out += strides[d] * (index[d] - box.start[d]);
        return out;
    }
};

/// a[box] of an array whose elements a file holds from byte `array.one_file->begin` on. Here and
/// now. @throws Error
void read_part(const File& file, const Metadata& array, const IndexBox& box, const Memory& to);

/// a[box] of an array in one file to memory and back, in place. On the threads of the pool.
/// @throws Error
void read_one_file(const Folder& folder, const Metadata& array, const IndexBox& box,
                   const Memory& to);
void write_one_file(const Folder& folder, const Metadata& array, const IndexBox& box,
                    const Memory& from, bool sync);

/// Copies a[box] to memory. Reads each chunk that the box intersects once, on the threads of the
/// pool. `path`: of the array in the store. @throws Error
void read_box(const Folder& folder, const std::string& path, const Metadata& array,
              const IndexBox& box, const Memory& to);

/// One file of an array during one call, which may read several boxes: reads the index once.
class FileReader {
  public:
    FileReader(const Folder& folder, const std::string& path, const Metadata& array,
               const Shape& file_index);

    const Shape& file_index() const { return index_of_file_; }
    /// The elements of the box that belong to the file, on so many threads.
    void get(const IndexBox& box, const Memory& to, int threads) const;

  private:
    const Metadata& array_;
    Shape index_of_file_;
    IndexBox held_;
    std::optional<File> file_;  // none: the file does not exist
    ShardIndex index_;
};

/// One file of an array during one call that writes: writes beside the old file, and then replaces
/// it.
class FileWriter {
  public:
    /// `region`: all that the call writes; other elements come from the old file.
    FileWriter(const Folder& folder, const std::string& path, const Metadata& array,
               const Shape& file_index, const IndexBox& region);
    ~FileWriter();
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    /// The chunks that the box covers, as far as they lie within the region. Each chunk comes once.
    void put(const IndexBox& box, const Memory& from);
    /// `sync`: the file is on the disk before a reader can see it.
    void finish(bool sync);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The files that a box meets, whole or as far as the region covers them. On the threads of the
/// pool. @throws Error
void write_box(const Folder& folder, const std::string& path, const Metadata& array,
               const IndexBox& region, const IndexBox& box, const Memory& from, bool sync);

}  // namespace hocket::zarr
