// SPDX-License-Identifier: BSD-3-Clause
// Boxes of a dataset of an HDF5 file.
#include <memory>
#include <utility>

#include "base/pool.hpp"
#include "hocket/error.hpp"
#include "hocket/kernel.hpp"
#include "kernel/permutation.hpp"
#include "zarr/buffers.hpp"
#include "zarr/chunk_memory.hpp"
#include "zarr/hdf5.hpp"
#include "zarr/hdf5_functions.hpp"

namespace hocket::zarr::hdf5 {
namespace {

template <class Use>
void with_file(const Folder& folder, const Dataset& dataset, bool writing, const Use& use) {
    if (!writing && dataset.open) return use(dataset.open);
    auto file = writing ? folder.find_to_write(dataset.file) : folder.find(dataset.file);
    if (!file) throw Error("'" + folder.path() + "/" + dataset.file + "' is not there any more");
    if (writing && dataset.open && !file->is(*dataset.open)) refuse_replaced(file->path());
    use(std::make_shared<const File>(std::move(*file)));
}

// The first byte of each chunk that a box intersects; -1: it is not stored.
std::vector<std::int64_t> places_of(const File& file, const std::string& name,
                                    const Metadata& array, const IndexBox& chunks) {
    const auto lock = locked();
    const Opened opened(file);
    const Held set(H5Dopen2(opened, name.c_str(), none));
    std::vector<std::int64_t> out(static_cast<std::size_t>(product_of(extents_of(chunks))));
    for (std::size_t k = 0; k < out.size(); ++k) {
        const Shape first =
            tile_at(index_in(chunks, static_cast<std::int64_t>(k)), array.chunk).start;
        const std::vector<Size> at(first.begin(), first.end());
        Size address = undefined, bytes = 0;
        unsigned mask = 0;
        H5Dget_chunk_info_by_coord(set, at.data(), &mask, &address, &bytes);
        if (address != undefined && bytes != static_cast<Size>(array.chunk_bytes()))
            throw Error("the chunk at " + text_of_index(first) + " of '" + name + "' in '" +
                        file.path() + "' has " + std::to_string(bytes) + " bytes instead of " +
                        std::to_string(array.chunk_bytes()) + "; the file is damaged");
        out[k] = address == undefined ? -1 : static_cast<std::int64_t>(address);
    }
    return out;
}

// Calls use(chunk as an array of its own, its index, its part of the box) in parallel.
template <class Use>
void each_chunk(const std::shared_ptr<const File>& file, const std::string& name,
                const Metadata& array, const IndexBox& box, const Use& use) {
    const IndexBox chunks = tiles_of(box, array.chunk);
    const std::vector<std::int64_t> places = places_of(*file, name, array, chunks);
    base::parallel_for(base::default_threads(), static_cast<std::int64_t>(places.size()),
                       [&](std::int64_t k) {
                           const IndexBox tile = tile_at(index_in(chunks, k), array.chunk);
                           const std::int64_t begin = places[static_cast<std::size_t>(k)];
                           Metadata chunk;
                           chunk.shape = chunk.chunk = chunk.file = array.chunk;
                           chunk.type = array.type;
                           chunk.encoding = array.encoding;
                           if (begin >= 0)
                               chunk.one_file = OneFile{array.dataset->file, begin, file, true};
                           use(chunk, tile, common(tile, box));
                       });
}

// Of a write of this box.
Growth growth_of(const File& file, const std::string& name, const Metadata& array,
                 const IndexBox& box) {
    const std::size_t dimensions = array.shape.size();
    if (array.dataset->chunked) {
        const std::int64_t bytes = array.chunk_bytes();  // and what zlib may add
        return growth_by(product_of(extents_of(tiles_of(box, array.chunk))), bytes + bytes / 64,
                         dimensions);
    }
    const Opened opened(file);
    const Held set(H5Dopen2(opened, name.c_str(), none));
    const bool has_place = H5Dget_offset(set) != undefined;
    return growth_by(1, has_place ? 0 : product_of(array.shape) * array.type.size, dimensions);
}

// By HDF5's library, through memory whose elements are contiguous.
template <class Use>
void by_library(const File& file, const std::string& name, const Metadata& array,
                const IndexBox& box, bool writing, const Use& use) {
    const Opened opened = writing ? Opened(file, growth_of(file, name, array, box)) : Opened(file);
    const Held set(H5Dopen2(opened, name.c_str(), none));
    const Shape shape = extents_of(box);
    const std::vector<Size> extents(shape.begin(), shape.end());
    const std::vector<Size> start(box.start.begin(), box.start.end());
    const int dimensions = static_cast<int>(shape.size());
    const Held in_file(H5Dget_space(set));
    const Held in_memory(H5Screate_simple(dimensions, extents.data(), nullptr));
    if (dimensions > 0)
        H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, extents.data(),
                            nullptr);
    try {
        use(set, memory_type(array.type, Held(H5Dget_type(set))), in_memory, in_file);
    } catch (const Error& error) {
        const std::string& filters = array.dataset->filters;
        throw Error("'" + name + "' in '" + file.path() + "': " + error.what() +
                    (filters.empty() ? ""
                                     : "; its filters are " + filters +
                                           ", so install HDF5's plugin for one that is missing"));
    }
    if (writing) opened.flush();
}

}  // namespace

void read_box(const Folder& folder, const std::string& name, const Metadata& array,
              const IndexBox& box, const Memory& to) {
    if (is_empty(box)) return;
    with_file(folder, *array.dataset, false, [&](const std::shared_ptr<const File>& file) {
        if (array.dataset->placed)
            return each_chunk(
                file, name, array, box,
                [&](const Metadata& chunk, const IndexBox& tile, const IndexBox& part) {
                    const Memory target{to.at(box, part.start), to.strides};
                    if (chunk.one_file)
                        return read_one_file(folder, chunk, relative(part, tile.start), target);
                    kernel::Copy(extents_of(part), array.type.size, Shape(to.strides.size(), 0),
                                 to.strides)
                        .run(array.fill.data(), target.data);
                });
        const Shape extents = extents_of(box);
        const std::int64_t bytes = product_of(extents) * array.type.size;
        Bytes data = Buffers::instance().take(static_cast<std::size_t>(bytes));
        {
            const auto lock = locked();
            by_library(*file, name, array, box, false,
                       [&](Id set, Id type, Id in_memory, Id in_file) {
                           H5Dread(set, type, in_memory, in_file, none, data.data());
                       });
        }
        kernel::Copy(extents, array.type.size, kernel::dense_strides(extents, array.type.size),
                     to.strides)
            .run(data.data(), to.data);
        Buffers::instance().give(std::move(data));
    });
}

void write_box(const Folder& folder, const std::string& name, const Metadata& array,
               const IndexBox& box, const Memory& from, bool sync) {
    if (is_empty(box)) return;
    with_file(folder, *array.dataset, true, [&](const std::shared_ptr<const File>& file) {
        if (array.dataset->placed && array.dataset->whole) {
            each_chunk(file, name, array, box,
                       [&](const Metadata& chunk, const IndexBox& tile, const IndexBox& part) {
                           if (!chunk.one_file)
                               throw Error("'" + file->path() + "' has changed meanwhile");
                           write_one_file(folder, chunk, relative(part, tile.start),
                                          {from.at(box, part.start), from.strides}, false);
                       });
        } else {
            const Shape extents = extents_of(box);
            const std::int64_t bytes = product_of(extents) * array.type.size;
            Bytes data = Buffers::instance().take(static_cast<std::size_t>(bytes));
            kernel::Copy(extents, array.type.size, from.strides,
                         kernel::dense_strides(extents, array.type.size))
                .run(from.data, data.data());
            const auto lock = locked();
            by_library(*file, name, array, box, true,
                       [&](Id set, Id type, Id in_memory, Id in_file) {
                           H5Dwrite(set, type, in_memory, in_file, none, data.data());
                       });
            Buffers::instance().give(std::move(data));
        }
        if (sync) file->sync();
    });
}

}  // namespace hocket::zarr::hdf5
