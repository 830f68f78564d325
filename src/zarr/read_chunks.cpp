// SPDX-License-Identifier: BSD-3-Clause
#include <new>
#include <optional>

#include "base/pool.hpp"
#include "hocket/error.hpp"
#include "hocket/kernel.hpp"
#include "zarr/buffers.hpp"
#include "zarr/chunk_memory.hpp"
#include "zarr/chunks.hpp"
#include "zarr/hdf5.hpp"
#include "zarr/plain.hpp"

namespace hocket::zarr {
namespace {

struct Reading {
    const Metadata& array;
    const IndexBox& box;
    const Memory& to;
};

void fill(const Reading& call, const IndexBox& part) {
    const Shape nowhere(call.to.strides.size(), 0);
    kernel::Copy(extents_of(part), call.array.type.size, nowhere, call.to.strides)
        .run(call.array.fill.data(), call.to.at(call.box, part.start));
}

// For shorter runs, a read of the whole chunk takes less time.
constexpr std::int64_t long_part = 4 << 10;

// The bytes of a part of a chunk that are contiguous in the file.
std::int64_t runs_of(const Metadata& array, const IndexBox& part) {
    const Shape extents = extents_of(part);
    std::int64_t bytes = array.type.size;
    for (std::size_t k = extents.size(); k-- > 0;) {
        const std::size_t d = array.encoding.order[k];
        bytes *= extents[d];
        if (extents[d] != array.chunk[d]) break;
    }
    return bytes;
}

// A chunk of an existing file.
void read_chunk(const Reading& call, const File& file, const IndexBox& chunk, std::int64_t offset,
                std::int64_t bytes) {
    const Metadata& array = call.array;
    const IndexBox part = common(chunk, call.box);
    std::byte* const target = call.to.at(call.box, part.start);
    if (array.encoding.codecs.empty() && bytes != array.chunk_bytes())
        throw Error("the chunk at " + text_of_index(chunk.start) + " in '" + file.path() +
                    "' has " + std::to_string(bytes) + " bytes instead of " +
                    std::to_string(array.chunk_bytes()) +
                    "; the file is damaged, so restore it from a copy");
    if (is_plain(array) && part == chunk)
        return Plain(array.chunk, call.to.strides, array.encoding.order, array.type.size, target)
            .read(file, offset);
    if (is_plain(array) && runs_of(array, part) >= long_part) {
        Metadata one;
        one.shape = array.chunk;
        one.type = array.type;
        one.encoding = array.encoding;
        one.one_file = OneFile{"", offset, nullptr};
        return read_part(file, one, relative(part, chunk.start), {target, call.to.strides});
    }
    Bytes data = Buffers::instance().take(static_cast<std::size_t>(bytes));
    file.read(offset, data);
    try {
        data = decoded(array, std::move(data));
    } catch (const Error& error) {
        throw Error("the chunk at " + text_of_index(chunk.start) + " in '" + file.path() +
                    "': " + error.what());
    } catch (const std::bad_alloc&) {
        throw Error("the chunk at " + text_of_index(chunk.start) + " in '" + file.path() +
                    "' needs " + std::to_string(array.chunk_bytes()) +
                    " bytes of memory, which this process does not get; copy the store into "
                    "smaller chunks where there is more memory");
    }
    const Shape strides = chunk_strides(array);
    kernel::Copy(extents_of(part), array.type.size, strides, call.to.strides)
        .run(Memory{data.data(), strides}.at(chunk, part.start), target);
    Buffers::instance().give(std::move(data));
}

}  // namespace

FileReader::FileReader(const Folder& folder, const std::string& path, const Metadata& array,
                       const Shape& file_index)
    : array_(array), index_of_file_(file_index), held_(tile_at(file_index, array.file)) {
    for (const Codec& codec : array.encoding.codecs) codec.require(false);
    if (auto found = folder.find(path_of(path, array.key(file_index)))) {
        if (array.sharded) index_ = read_index(array, *found);
        file_.emplace(std::move(*found));
    } else {
        folder.require_there();
    }
}

void FileReader::get(const IndexBox& box, const Memory& to, int threads) const {
    const Reading call{array_, box, to};
    const IndexBox part = common(held_, box);
    if (is_empty(part)) return;
    if (!file_) return fill(call, part);
    if (!array_.sharded) return read_chunk(call, *file_, held_, 0, file_->size());
    const IndexBox chunks = tiles_of(part, array_.chunk);
    const IndexBox grid = tiles_of(held_, array_.chunk);
    base::parallel_for(threads, product_of(extents_of(chunks)), [&](std::int64_t number) {
        const Shape at = index_in(chunks, number);
        const IndexBox chunk = tile_at(at, array_.chunk);
        const ChunkPlace& place = index_[static_cast<std::size_t>(
            row_major(relative({at, at}, grid.start).start, array_.chunks_in_file()))];
        if (place.missing()) return fill(call, common(chunk, call.box));
        read_chunk(call, *file_, chunk, static_cast<std::int64_t>(place.offset),
                   static_cast<std::int64_t>(place.bytes));
    });
}

void read_box(const Folder& folder, const std::string& path, const Metadata& array,
              const IndexBox& box, const Memory& to) {
    if (is_empty(box)) return;
    if (array.one_file) return read_one_file(folder, array, box, to);
    if (array.dataset) return hdf5::read_box(folder, path, array, box, to);
    const IndexBox files = tiles_of(box, array.file);
    const std::int64_t count = product_of(extents_of(files));
    const int threads = base::default_threads();
    base::parallel_for(threads, count, [&](std::int64_t number) {
        FileReader(folder, path, array, index_in(files, number))
            .get(box, to, count == 1 ? threads : 1);
    });
}

}  // namespace hocket::zarr
