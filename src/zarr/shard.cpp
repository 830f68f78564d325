// SPDX-License-Identifier: BSD-3-Clause
#include "zarr/shard.hpp"

#include <cstring>
#include <numeric>

#include "hocket/error.hpp"
#include "kernel/byte_order.hpp"

namespace hocket::zarr {
namespace {

std::int64_t count_of(const Metadata& array) {
    const Shape counts = array.chunks_in_file();
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

std::int64_t index_bytes(const Metadata& array) {
    return 16 * count_of(array) + 4 * static_cast<std::int64_t>(array.index_codecs.size());
}

Bytes encode_index(const Metadata& array, const ShardIndex& index) {
    Bytes data(index.size() * sizeof(ChunkPlace));
    std::memcpy(data.data(), index.data(), data.size());
    if (array.index_big_endian)
        kernel::reverse_numbers(data.data(), static_cast<std::int64_t>(data.size()), 8);
    return encode(array.index_codecs, std::move(data));
}

ShardIndex decode_index(const Metadata& array, Bytes data, std::int64_t file_bytes) {
    data = decode(array.index_codecs, std::move(data), 16 * count_of(array));
    if (array.index_big_endian)
        kernel::reverse_numbers(data.data(), static_cast<std::int64_t>(data.size()), 8);
    ShardIndex index(data.size() / sizeof(ChunkPlace));
    std::memcpy(static_cast<void*>(index.data()), data.data(), data.size());
    const auto end = static_cast<std::uint64_t>(file_bytes);
    for (std::size_t k = 0; k < index.size(); ++k) {
        const ChunkPlace& chunk = index[k];
        if (!chunk.missing() && (chunk.offset > end || chunk.bytes > end - chunk.offset))
            throw Error("chunk " + std::to_string(k) + " lies at byte " +
                        std::to_string(chunk.offset) + " with " + std::to_string(chunk.bytes) +
                        " bytes, but the file has " + std::to_string(file_bytes) +
                        "; it is damaged, so restore it from a copy");
    }
    return index;
}

ShardIndex read_index(const Metadata& array, const File& file) {
    const std::int64_t size = file.size(), length = index_bytes(array);
    try {
        if (size < length)
            throw Error("it has " + std::to_string(size) + " bytes, and its index alone needs " +
                        std::to_string(length) + "; it was cut off, so restore it from a copy");
        Bytes data(static_cast<std::size_t>(length));
        file.read(array.index_at_end ? size - length : 0, data);
        return decode_index(array, std::move(data), size);
    } catch (const Error& error) {
        throw Error("the shard '" + file.path() + "' cannot be read: " + error.what());
    }
}

}  // namespace hocket::zarr
