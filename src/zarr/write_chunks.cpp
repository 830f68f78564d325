// SPDX-License-Identifier: BSD-3-Clause
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

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

// Encodes several chunks together, then writes them one after the other, while they are in cache.
constexpr std::int64_t batch_bytes = std::int64_t{8} << 20;

// Unique among the threads of a process, and among processes of several hosts and containers, which
// number theirs alike: a process that was killed may have left such a file.
std::string name_beside(const std::string& path) {
    static const std::uint64_t own = [] {
        std::uint64_t drawn = 0;
        static_cast<void>(::getrandom(&drawn, sizeof drawn, 0));
        return drawn;
    }();
    static std::atomic<std::int64_t> number{0};
    return path + "." + std::to_string(::getpid()) + "-" + std::to_string(own) + "-" +
           std::to_string(++number) + "~";
}

bool all_fill(const Metadata& array, const Bytes& data) {
    const Bytes& fill = array.fill;
    if (std::memcmp(data.data(), fill.data(), fill.size()) != 0) return false;
    // Each element equals the one before it.
    return std::memcmp(data.data(), data.data() + fill.size(), data.size() - fill.size()) == 0;
}

bool zero_fill(const Metadata& array) {
    return std::all_of(array.fill.begin(), array.fill.end(),
                       [](std::byte each) { return each == std::byte{}; });
}

}  // namespace

struct FileWriter::State {
    const Folder& folder;
    const Metadata& array;
    IndexBox region;
    std::string path;         // of the file, in the store
    std::string beside;       // while it is written
    IndexBox held;            // of the file and of the array
    IndexBox grid;            // of its chunks
    std::optional<File> old;  // if the region does not cover the file
    ShardIndex old_index;
    std::optional<File> file;
    std::int64_t end = 0;  // of the written bytes
    ShardIndex index;
    std::vector<bool> done;
    bool any = false, finished = false;

    std::int64_t number_of(const Shape& chunk) const {
        return row_major(relative({chunk, chunk}, grid.start).start, array.chunks_in_file());
    }
    ChunkPlace old_place(std::int64_t number) const {
        if (!old) return {};
        if (array.sharded) return old_index[static_cast<std::size_t>(number)];
        return {0, static_cast<std::uint64_t>(old->size())};
    }
    Bytes old_bytes(const ChunkPlace& place) const {
        Bytes data(place.bytes);
        old->read(static_cast<std::int64_t>(place.offset), data);
        return data;
    }
    // The elements of a chunk, from the call and from the old file; nothing if all have the fill
    // value.
    std::optional<Bytes> made(const Shape& at, const IndexBox& box, const Memory& from) const {
        const IndexBox chunk = tile_at(at, array.chunk);
        const IndexBox wanted = common(chunk, whole_of(array.shape));
        const IndexBox part = common(chunk, box);
        const Shape strides = chunk_strides(array);
        Bytes data = Buffers::instance().take(static_cast<std::size_t>(array.chunk_bytes()));
        const ChunkPlace before = old_place(number_of(at));
        if (!covers(part, wanted) && !before.missing()) {
            data = decoded(array, old_bytes(before));
        } else if (part != chunk && zero_fill(array)) {
            std::fill(data.begin(), data.end(), std::byte{});
        } else if (part != chunk) {
            kernel::Copy(array.chunk, array.type.size, Shape(strides.size(), 0), strides)
                .run(array.fill.data(), data.data());
        }
        kernel::Copy(extents_of(part), array.type.size, from.strides, strides)
            .run(from.at(box, part.start), Memory{data.data(), strides}.at(chunk, part.start));
        if (all_fill(array, data)) return std::nullopt;
        return encoded(array, std::move(data));
    }
    // A chunk whose bytes in the file equal those in memory; none: it must be encoded.
    std::optional<Plain> plain(const Shape& at, const IndexBox& box, const Memory& from) const {
        const IndexBox chunk = tile_at(at, array.chunk);
        if (!is_plain(array) || !covers(box, chunk)) return std::nullopt;
        return Plain(array.chunk, from.strides, array.encoding.order, array.type.size,
                     from.at(box, chunk.start));
    }
    // `write(file, offset)`: writes so many bytes.
    template <class Write>
    void append(std::int64_t number, std::int64_t bytes, const Write& write) {
        if (!file) {
            file.emplace(folder.create(beside, true));
            if (array.sharded && !array.index_at_end) end = index_bytes(array);
        }
        any = true;
        index[static_cast<std::size_t>(number)] = {static_cast<std::uint64_t>(end),
                                                   static_cast<std::uint64_t>(bytes)};
        write(*file, end);
        end += bytes;
    }
    void append(std::int64_t number, const std::optional<Bytes>& data) {
        done[static_cast<std::size_t>(number)] = true;
        if (!data) return;
        append(number, static_cast<std::int64_t>(data->size()),
               [&](const File& to, std::int64_t offset) { to.write(offset, *data); });
    }
    void append(std::int64_t number, const Plain& chunk) {
        done[static_cast<std::size_t>(number)] = true;
        if (chunk.all_equal(array.fill)) return;
        append(number, array.chunk_bytes(),
               [&](const File& to, std::int64_t offset) { chunk.write(to, offset); });
    }
};

FileWriter::FileWriter(const Folder& folder, const std::string& path, const Metadata& array,
                       const Shape& file_index, const IndexBox& region)
    : state_(std::make_unique<State>(State{folder,
                                           array,
                                           region,
                                           path_of(path, array.key(file_index)),
                                           {},
                                           {},
                                           {},
                                           {},
                                           {},
                                           {},
                                           0,
                                           {},
                                           {},
                                           false,
                                           false})) {
    for (const Codec& codec : array.encoding.codecs) codec.require(true);
    const IndexBox tile = tile_at(file_index, array.file);
    state_->beside = name_beside(state_->path);
    state_->held = common(tile, whole_of(array.shape));
    state_->grid = tiles_of(tile, array.chunk);
    const auto chunks = static_cast<std::size_t>(product_of(array.chunks_in_file()));
    state_->index.resize(chunks);
    state_->done.resize(chunks);
    if (covers(region, state_->held)) return;
    if (auto old = folder.find(state_->path)) {
        if (array.sharded) state_->old_index = read_index(array, *old);
        state_->old.emplace(std::move(*old));
    }
}

FileWriter::~FileWriter() {
    if (state_->finished || !state_->file) return;
    try {
        state_->folder.remove(state_->beside);
    } catch (const Error&) {
        return;  // the end of the call reports the error
    }
}

void FileWriter::put(const IndexBox& box, const Memory& from) {
    const IndexBox part = common(common(box, state_->held), state_->region);
    if (is_empty(part)) return;
    const IndexBox chunks = tiles_of(part, state_->array.chunk);
    const std::int64_t count = product_of(extents_of(chunks));
    const int threads = base::default_threads();
    const std::int64_t batch = std::max<std::int64_t>(std::min<std::int64_t>(threads, 4),
                                                      batch_bytes / state_->array.chunk_bytes());
    const Memory origin{from.at(box, part.start), from.strides};
    // Several threads encode; one writes, because a file has one writer at a time in the system,
    // too.
    std::vector<Shape> chosen;
    const auto encode = [&] {
        std::vector<std::optional<Bytes>> made(chosen.size());
        base::parallel_for(threads, static_cast<std::int64_t>(made.size()), [&](std::int64_t n) {
            const auto k = static_cast<std::size_t>(n);
            made[k] = state_->made(chosen[k], part, origin);
        });
        for (std::size_t k = 0; k < made.size(); ++k) {
            state_->append(state_->number_of(chosen[k]), made[k]);
            if (made[k]) Buffers::instance().give(std::move(*made[k]));
        }
        chosen.clear();
    };
    for (std::int64_t n = 0; n < count; ++n) {
        const Shape at = index_in(chunks, n);
        if (const auto plain = state_->plain(at, part, origin)) {
            state_->append(state_->number_of(at), *plain);
            continue;
        }
        chosen.push_back(at);
        if (static_cast<std::int64_t>(chosen.size()) == batch) encode();
    }
    encode();
}

void FileWriter::finish(bool sync) {
    State& state = *state_;
    for (std::size_t k = 0; k < state.index.size() && state.old; ++k) {
        const ChunkPlace place = state.old_place(static_cast<std::int64_t>(k));
        if (state.done[k] || place.missing()) continue;
        state.append(static_cast<std::int64_t>(k), state.old_bytes(place));
    }
    if (!state.any) {
        state.folder.remove(state.path);
        state.finished = true;
        return;
    }
    if (state.array.sharded)
        state.file->write(state.array.index_at_end ? state.end : 0,
                          encode_index(state.array, state.index));
    if (sync) {
        state.file->sync();
        state.folder.rename(state.beside, state.path);
    } else {
        state.folder.put_in_place(state.beside, state.path);
    }
    state.finished = true;
}

void write_box(const Folder& folder, const std::string& path, const Metadata& array,
               const IndexBox& region, const IndexBox& box, const Memory& from, bool sync) {
    if (is_empty(box)) return;
    if (array.one_file) return write_one_file(folder, array, box, from, sync);
    if (array.dataset) return hdf5::write_box(folder, path, array, box, from, sync);
    const IndexBox files = tiles_of(box, array.file);
    const std::int64_t count = product_of(extents_of(files));
    const auto write = [&](std::int64_t number) {
        FileWriter writer(folder, path, array, index_in(files, number), region);
        writer.put(box, from);
        writer.finish(sync);
    };
    if (count == 1) return write(0);
    base::parallel_for(base::default_threads(), count, write);
}

}  // namespace hocket::zarr
