// SPDX-License-Identifier: BSD-3-Clause
#include "zarr/metadata.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"

namespace hocket::zarr {
namespace {

// Chunks of a few MiB compress well and are quick to read; files of 128 MiB are few, even for large
// arrays.
constexpr std::int64_t usual_chunk = std::int64_t{2} << 20;
constexpr std::int64_t usual_shard = std::int64_t{128} << 20;
// Elements without chunks are read and written in blocks that are contiguous in the file.
constexpr std::int64_t block_bytes = std::int64_t{1} << 20;
constexpr std::int64_t tile_bytes = std::int64_t{16} << 20;

std::int64_t bytes_of(const Shape& extents, std::int64_t itemsize) {
    const auto elements = base::product(extents);
    const auto bytes = elements ? base::product(*elements, itemsize) : std::nullopt;
    if (!bytes)
        throw Error("chunks of " + text::tuple(extents) + " elements of " +
                    std::to_string(itemsize) +
                    " bytes have more than 2^63 bytes; make them smaller");
    return *bytes;
}

// Halves the longest extents until a chunk is small enough.
Shape usual_chunks(const Shape& shape, std::int64_t itemsize) {
    Shape chunks;
    for (const std::int64_t extent : shape) chunks.push_back(std::max<std::int64_t>(extent, 1));
    const auto large = [&] {
        double bytes = static_cast<double>(itemsize);
        for (const std::int64_t extent : chunks) bytes *= static_cast<double>(extent);
        return bytes > static_cast<double>(usual_chunk);
    };
    while (large()) {
        const auto longest = std::max_element(chunks.begin(), chunks.end());
        if (longest == chunks.end() || *longest == 1) break;
        *longest = (*longest + 1) / 2;
    }
    return chunks;
}

// As many chunks as fit, from the last dimension on, so that a file is a slab of the array.
Shape usual_shards(const Shape& shape, const Shape& chunks, std::int64_t itemsize) {
    Shape shards = chunks;
    for (std::size_t d = shape.size(); d-- > 0;) {
        const std::int64_t most = usual_shard / bytes_of(shards, itemsize);
        const std::int64_t all = base::ceil_div(std::max<std::int64_t>(shape[d], 1), chunks[d]);
        shards[d] = chunks[d] * std::clamp<std::int64_t>(most, 1, all);
    }
    return shards;
}

// The extents of contiguous blocks: whole fast dimensions, a part of one, one index of each slower
// one.
Shape block_of(const Metadata& array, std::int64_t most) {
    Shape out(array.shape.size(), 1);
    std::int64_t bytes = array.type.size;
    for (std::size_t k = out.size(); k-- > 0;) {
        const std::size_t d = array.encoding.order[k];
        const std::int64_t extent = std::max<std::int64_t>(1, array.shape[d]);
        out[d] = std::clamp<std::int64_t>(most / bytes, 1, extent);
        if (out[d] < extent) break;
        bytes *= extent;
    }
    return out;
}

void check_extents(const Shape& extents, std::size_t dimensions, const char* name) {
    if (extents.size() != dimensions ||
        std::any_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent < 1; }))
        throw Error(std::string(name) + " are " + text::tuple(extents) + " of an array of " +
                    std::to_string(dimensions) +
                    " dimensions; give one extent of 1 or more for each");
}

}  // namespace

std::int64_t Metadata::chunk_bytes() const {
    return bytes_of(chunk, type.size);
}

Shape Metadata::file_counts() const {
    Shape counts;
    for (std::size_t d = 0; d < shape.size(); ++d)
        counts.push_back(base::ceil_div(shape[d], file[d]));
    return counts;
}

Shape Metadata::chunks_in_file() const {
    Shape counts;
    for (std::size_t d = 0; d < shape.size(); ++d) counts.push_back(file[d] / chunk[d]);
    return counts;
}

std::string Metadata::key(std::span<const std::int64_t> file_index) const {
    std::string out = default_keys ? "c" : "";
    for (const std::int64_t index : file_index) {
        if (!out.empty()) out += separator;
        out += std::to_string(index);
    }
    return out.empty() ? "0" : out;
}

StoredArray Metadata::described(const std::string& name) const {
    StoredArray out;
    out.name = name;
    out.shape = shape;
    out.dtype =
        type.kind == DataType::Kind::raw ? "'" + type.numpy_name() + "'" : type.numpy_name();
    out.itemsize = type.size;
    out.chunks = chunk;
    if (sharded) out.shards = file;
    out.codec = "none";
    for (const Codec& codec : encoding.codecs)
        if (codec.kind != Codec::Kind::crc32c) out.codec = codec.name();
    out.fill = json_of_fill(fill, type);
    out.dimension_names = dimension_names;
    out.attributes = attributes;
    out.zarr_format = format;
    if (dataset && !dataset->filters.empty()) out.codec = dataset->filters;
    if (one_file || (dataset && !dataset->chunked)) {
        out.chunks = shape;
        out.shards = {};
    }
    return out;
}

std::string contradiction_of(const Metadata& array) {
    const std::size_t dimensions = array.shape.size();
    if (array.chunk.size() != dimensions || array.file.size() != dimensions)
        return "its chunks have another number of dimensions than its shape " +
               text::tuple(array.shape);
    std::int64_t chunks = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
        if (array.file[d] % array.chunk[d] != 0)
            return "its shards of " + text::tuple(array.file) +
                   " are no multiple of its chunks of " + text::tuple(array.chunk);
        chunks = base::product_up_to(chunks, array.file[d] / array.chunk[d], base::max_size / 64);
        if (!base::product(base::ceil_div(array.shape[d], array.file[d]), array.file[d]))
            return "its shape " + text::tuple(array.shape) + " in whole shards of " +
                   text::tuple(array.file) + " has an extent of more than 2^63";
    }
    if (chunks > (std::int64_t{1} << 28)) return "a shard of it has more than 2^28 chunks";
    const auto elements = base::product(array.shape);
    if (!elements || !base::product(*elements, array.type.size))
        return "its shape " + text::tuple(array.shape) + " has more than 2^63 bytes";
    const auto in_file = base::product(array.file);
    if (!in_file || !base::product(*in_file, array.type.size))
        return "its chunks have more than 2^63 bytes";
    return "";
}

Metadata with_blocks(Metadata array) {
    array.chunk = block_of(array, block_bytes);
    array.file = block_of(array, tile_bytes);
    for (std::size_t d = 0; d < array.file.size(); ++d)  // whole blocks
        array.file[d] = base::ceil_div(array.file[d], array.chunk[d]) * array.chunk[d];
    array.fill = Bytes(static_cast<std::size_t>(array.type.size));
    array.dimension_names.assign(array.shape.size(), "");
    return array;
}

Metadata make_metadata(const Wanted& wanted) {
    Metadata made;
    const std::size_t dimensions = wanted.shape.size();
    for (const std::int64_t extent : wanted.shape)
        if (extent < 0) throw Error("there is no array of shape " + text::tuple(wanted.shape));
    made.shape = wanted.shape;
    made.type = wanted.type;
    made.chunk =
        wanted.chunks.empty() ? usual_chunks(wanted.shape, wanted.type.size) : wanted.chunks;
    check_extents(made.chunk, dimensions, "chunks");
    made.file = made.chunk;
    if (!wanted.shards.empty())
        made.file = wanted.shards;
    else if (wanted.chunks.empty() && !wanted.one_chunk_a_file)
        made.file = usual_shards(wanted.shape, made.chunk, wanted.type.size);
    check_extents(made.file, dimensions, "shards");
    for (std::size_t d = 0; d < dimensions; ++d)
        if (made.file[d] % made.chunk[d] != 0)
            throw Error("shards of " + text::tuple(made.file) + " are no multiple of chunks of " +
                        text::tuple(made.chunk) + "; make each extent one");
    if (const std::string why = contradiction_of(made); !why.empty())
        throw Error("there can be no such array: " + why);
    made.sharded = !wanted.shards.empty() || made.file != made.chunk;
    if (made.sharded) made.index_codecs = {Codec::named("crc32c")};
    for (std::size_t d = 0; d < dimensions; ++d) made.encoding.order.push_back(d);
    if (wanted.codec != "none") {
        made.encoding.codecs = {Codec::named(wanted.codec.empty() ? "zstd" : wanted.codec)};
        made.encoding.codecs[0].require(true);
    }
    made.fill = fill_of_json(wanted.fill, wanted.type);
    made.attributes = checked_attributes(wanted.attributes);
    made.dimension_names = wanted.dimension_names;
    if (made.dimension_names.empty())  // for xarray
        for (std::size_t d = 0; d < dimensions; ++d)
            made.dimension_names.push_back("dim_" + std::to_string(d));
    if (made.dimension_names.size() != dimensions)
        throw Error(std::to_string(made.dimension_names.size()) +
                    " names are given for the dimensions of an array that has " +
                    std::to_string(dimensions));
    return made;
}

}  // namespace hocket::zarr
