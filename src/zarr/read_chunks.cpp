// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "base/pool.hpp"
#include "hocket/error.hpp"
#include "hocket/kernel.hpp"
#include "zarr/buffers.hpp"
#include "zarr/chunk_memory.hpp"
#include "zarr/chunks.hpp"

namespace hocket::zarr {
namespace {

struct Reading {
    const Folder& folder;
    const std::string& path;
    const Metadata& array;
    const IndexBox& box;
    const Memory& to;
};

void fill(const Reading& call, const IndexBox& part) {
    const Shape nowhere(call.to.strides.size(), 0);
    kernel::Copy(extents_of(part), call.array.type.size, nowhere, call.to.strides)
        .run(call.array.fill.data(), call.to.at(call.box, part.start));
}

// A chunk of a file that is there.
void read_chunk(const Reading& call, const File& file, const IndexBox& chunk, std::int64_t offset,
                std::int64_t bytes) {
    const Metadata& array = call.array;
    const IndexBox part = common(chunk, call.box);
    std::byte* const target = call.to.at(call.box, part.start);
    const Shape strides = chunk_strides(array);
    const kernel::Copy copy(extents_of(part), array.type.size, strides, call.to.strides);
    if (array.encoding.codecs.empty() && bytes != array.chunk_bytes())
        throw Error("the chunk at " + text_of_index(chunk.start) + " in '" + file.path() +
                    "' has " + std::to_string(bytes) + " bytes instead of " +
                    std::to_string(array.chunk_bytes()) +
                    "; the file is damaged, so restore it from a copy");
    const bool as_it_is = array.encoding.codecs.empty() && !must_swap(array);
    if (as_it_is && part == chunk && copy.source_contiguous() && copy.destination_contiguous()) {
        file.read(offset, {target, static_cast<std::size_t>(bytes)});
        return;
    }
    Bytes data = Buffers::instance().take(static_cast<std::size_t>(bytes));
    file.read(offset, data);
    try {
        data = decoded(array, std::move(data));
    } catch (const Error& error) {
        throw Error("the chunk at " + text_of_index(chunk.start) + " in '" + file.path() +
                    "': " + error.what());
    }
    copy.run(Memory{data.data(), strides}.at(chunk, part.start), target);
    Buffers::instance().give(std::move(data));
}

void read_file(const Reading& call, const Shape& file_index, int threads) {
    const Metadata& array = call.array;
    const IndexBox held = tile_at(file_index, array.file);
    const IndexBox part = common(held, call.box);
    const auto file = call.folder.find(path_of(call.path, array.key(file_index)));
    if (!file) return fill(call, part);
    if (!array.sharded) return read_chunk(call, *file, held, 0, file->size());
    const ShardIndex index = read_index(array, *file);
    const IndexBox chunks = tiles_of(part, array.chunk);
    const IndexBox grid = tiles_of(held, array.chunk);
    base::parallel_for(threads, product_of(extents_of(chunks)), [&](std::int64_t number) {
        const Shape at = index_in(chunks, number);
        const IndexBox chunk = tile_at(at, array.chunk);
        const ChunkPlace& place = index[static_cast<std::size_t>(
            row_major(relative({at, at}, grid.start).start, array.chunks_in_file()))];
        if (place.missing()) return fill(call, common(chunk, call.box));
        read_chunk(call, *file, chunk, static_cast<std::int64_t>(place.offset),
                   static_cast<std::int64_t>(place.bytes));
    });
}

}  // namespace

void read_box(const Folder& folder, const std::string& path, const Metadata& array,
              const IndexBox& box, const Memory& to) {
    if (is_empty(box)) return;
    for (const Codec& codec : array.encoding.codecs) codec.require(false);
    const Reading call{folder, path, array, box, to};
    const IndexBox files = tiles_of(box, array.file);
    const std::int64_t count = product_of(extents_of(files));
    const int threads = base::default_threads();
    if (count == 1) return read_file(call, files.start, threads);
    base::parallel_for(threads, count,
                       [&](std::int64_t number) { read_file(call, index_in(files, number), 1); });
}

}  // namespace hocket::zarr
