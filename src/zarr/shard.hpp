// SPDX-License-Identifier: BSD-3-Clause
// The index of a shard: the positions of its chunks in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "zarr/files.hpp"
#include "zarr/metadata.hpp"

namespace hocket::zarr {

struct ChunkPlace {
    std::uint64_t offset = ~std::uint64_t{0};
    std::uint64_t bytes = ~std::uint64_t{0};

    /// For a chunk that no call has written: all its elements have the fill value.
    bool missing() const { return offset == ~std::uint64_t{0} && bytes == ~std::uint64_t{0}; }
    friend bool operator==(const ChunkPlace&, const ChunkPlace&) = default;
};

using ShardIndex = std::vector<ChunkPlace>;  // by row-major number of the chunk

/// Bytes of the index in the file.
std::int64_t index_bytes(const Metadata& array);
Bytes encode_index(const Metadata& array, const ShardIndex& index);
/// @throws Error for a wrong checksum, and for chunks outside of a file of `file_bytes` bytes.
ShardIndex decode_index(const Metadata& array, Bytes data, std::int64_t file_bytes);
ShardIndex read_index(const Metadata& array, const File& file);

}  // namespace hocket::zarr
