// SPDX-License-Identifier: BSD-3-Clause
// The metadata of an array in zarr.json (Zarr core specification 3.1; sharding: its codec
// `sharding_indexed`, version 1.0), and in .zarray of version 2.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/store_files.hpp"
#include "zarr/codec.hpp"
#include "zarr/dtype.hpp"
#include "zarr/files.hpp"

namespace hocket::zarr {

/// The encoding of a chunk: the order of dimensions, the byte order, then codecs.
struct Encoding {
    std::vector<std::size_t> order;  // of dimensions, slowest first
    bool big_endian = false;
    std::vector<Codec> codecs;
};

/// The position of all elements in one file without compression, such as NumPy's .npy.
struct OneFile {
    std::string path;                            // in the folder
    std::int64_t begin = 0;                      // byte of the first element
    std::shared_ptr<const File> open = nullptr;  // for reading, as it was when the store was opened
    bool writable = false;                       // whether `open` is for writing, too
};

/// An array in an HDF5 file whose elements are not contiguous there; `file` is its chunk.
struct Dataset {
    std::string file;     // in the folder
    std::string filters;  // "gzip", "shuffle+gzip"; "": none
    bool chunked = false;
    bool placed = false;  // chunks have no filters, so their bytes are those of their elements
    bool whole = false;   // and all are there
    std::shared_ptr<const File> open = nullptr;  // as OneFile's
};

struct Metadata {
    int format = 3;
    Shape shape;
    DataType type;
    Shape chunk;                      // extents of a chunk
    Shape file;                       // extents of a file: a shard, or a chunk
    std::optional<OneFile> one_file;  // then `file` and `chunk` are blocks of it
    std::optional<Dataset> dataset;
    bool sharded = false;
    bool index_at_end = true;
    std::vector<Codec> index_codecs;  // none, or a checksum
    bool index_big_endian = false;
    Encoding encoding;
    bool default_keys = true;  // "c/0/1", else version 2's "0.1"
    char separator = '/';
    Bytes fill;
    std::string attributes = "{}";
    std::vector<std::string> dimension_names;  // one a dimension; "": none

    std::int64_t chunk_bytes() const;
    /// The number of files along each dimension.
    Shape file_counts() const;
    /// The number of a file's chunks along each dimension.
    Shape chunks_in_file() const;
    /// The path of a file below the array: "c/0/1".
    std::string key(std::span<const std::int64_t> file_index) const;
    StoredArray described(const std::string& name) const;
};

/// A node of a store: a group by its attributes, or an array. `what` names the file in errors.
struct Node {
    bool is_array = false;
    Metadata array;
    std::string attributes = "{}";
    /// For a root: the nodes below it, by path, as JSON; "": it does not list them.
    std::vector<std::pair<std::string, std::string>> below;
    bool lists_below = false;
};

/// @throws Error for another zarr_format, for unknown codecs, data types and extensions, which the
///         message names, and for inconsistent values.
Node parse_node(std::string_view json, const std::string& what);
Metadata parse_v2(std::string_view zarray, std::string_view zattrs, const std::string& what);

std::string text_of(const Metadata& metadata);
/// For a group; `below`: the metadata of all nodes below it, by path, for readers that open one
/// file only (zarr-python's consolidated metadata).
std::string text_of_group(const std::string& attributes,
                          std::span<const std::pair<std::string, std::string>> below);
/// Checks text for attributes. @throws Error unless it is a JSON object.
std::string checked_attributes(const std::string& json);

/// The request for an array; empty extents: chosen by size.
struct Wanted {
    Shape shape;
    DataType type;
    Shape chunks, shards;
    bool one_chunk_a_file = false;
    std::string codec;  // "": zstd, or none where the format has no zstd
    std::string fill = "0";
    std::vector<std::string> dimension_names;
    std::string attributes = "{}";
};
/// Why an array with these extents cannot be; "": it can.
std::string contradiction_of(const Metadata& array);
/// Divides an array whose elements are contiguous in one file into blocks.
Metadata with_blocks(Metadata array);
/// @throws Error for inconsistent values.
Metadata make_metadata(const Wanted& wanted);

}  // namespace hocket::zarr
