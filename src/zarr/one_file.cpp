// SPDX-License-Identifier: BSD-3-Clause
// Boxes of an array in one file: disjoint boxes are disjoint bytes, so several processes may write
// the file at a time.
#include "base/pool.hpp"
#include "hocket/error.hpp"
#include "hocket/kernel.hpp"
#include "kernel/byte_order.hpp"
#include "kernel/permutation.hpp"
#include "zarr/chunk_memory.hpp"
#include "zarr/chunks.hpp"
#include "zarr/plain.hpp"

namespace hocket::zarr {
namespace {

// Calls use(part, offset) for the contiguous parts of a box in the file.
template <class Use>
void each_part(const Metadata& array, const IndexBox& box, const Use& use) {
    const std::vector<std::size_t>& order = array.encoding.order;
    const Shape extents = extents_of(box);
    Shape strides(order.size());
    std::int64_t stride = array.type.size;
    for (std::size_t k = order.size(); k-- > 0;) {
        strides[order[k]] = stride;
        stride *= array.shape[order[k]];
    }
    // Dimensions from `whole` on are contiguous, because the box covers all later ones.
    std::size_t whole = order.size();
    while (whole > 0) {
        --whole;
        if (extents[order[whole]] != array.shape[order[whole]]) break;
    }
    IndexBox outer = box;
    for (std::size_t k = whole; k < order.size(); ++k) {
        outer.start[order[k]] = 0;
        outer.stop[order[k]] = 1;
    }
    const std::int64_t count = product_of(extents_of(outer));
    for (std::int64_t number = 0; number < count; ++number) {
        const Shape at = index_in(outer, number);
        IndexBox part = box;
        std::int64_t offset = array.one_file->begin;
        for (std::size_t k = 0; k < order.size(); ++k) {
            const std::size_t d = order[k];
            if (k < whole) {
                part.start[d] = at[d];
                part.stop[d] = at[d] + 1;
            }
            offset += strides[d] * part.start[d];
        }
        use(part, offset);
    }
}

template <class Use>
void with_file(const Folder& folder, const Metadata& array, bool writing, const Use& use) {
    const OneFile& place = *array.one_file;
    if (place.open && (!writing || place.writable)) return use(*place.open);
    const std::string& path = place.path;
    const auto file = writing ? folder.find_to_write(path) : folder.find(path);
    if (!file) throw Error("'" + folder.path() + "/" + path + "' is not there any more");
    if (writing && place.open && !file->is(*place.open)) refuse_replaced(file->path());
    use(*file);
}

// In blocks of the file, on the threads of the pool.
template <class Use>
void each_block(const Metadata& array, const IndexBox& box, const Use& use) {
    const IndexBox blocks = tiles_of(box, array.chunk);
    base::parallel_for(base::default_threads(), product_of(extents_of(blocks)),
                       [&](std::int64_t number) {
                           use(common(tile_at(index_in(blocks, number), array.chunk), box));
                       });
}

void read_swapped(const Metadata& array, const File& file, const IndexBox& part,
                  std::int64_t offset, const Memory& to, std::byte* target) {
    const Shape extents = extents_of(part);
    Bytes data(static_cast<std::size_t>(product_of(extents) * array.type.size));
    file.read(offset, data);
    kernel::reverse_numbers(data.data(), static_cast<std::int64_t>(data.size()), array.type.unit());
    Shape strides(extents.size());
    std::int64_t stride = array.type.size;
    for (std::size_t k = extents.size(); k-- > 0;) {
        strides[array.encoding.order[k]] = stride;
        stride *= extents[array.encoding.order[k]];
    }
    kernel::Copy(extents, array.type.size, strides, to.strides).run(data.data(), target);
}

}  // namespace

void read_part(const File& file, const Metadata& array, const IndexBox& box, const Memory& to) {
    each_part(array, box, [&](const IndexBox& part, std::int64_t offset) {
        std::byte* const target = to.at(box, part.start);
        if (must_swap(array)) return read_swapped(array, file, part, offset, to, target);
        Plain(extents_of(part), to.strides, array.encoding.order, array.type.size, target)
            .read(file, offset);
    });
}

void read_one_file(const Folder& folder, const Metadata& array, const IndexBox& box,
                   const Memory& to) {
    if (is_empty(box)) return;
    with_file(folder, array, false, [&](const File& file) {
        each_block(array, box, [&](const IndexBox& block) {
            read_part(file, array, block, {to.at(box, block.start), to.strides});
        });
    });
}

void write_one_file(const Folder& folder, const Metadata& array, const IndexBox& box,
                    const Memory& from, bool sync) {
    if (is_empty(box)) return;
    if (must_swap(array))
        throw Error("'" + array.one_file->path +
                    "' has the other order of bytes, in which hocket does not write; load it, and "
                    "save it into another file");
    with_file(folder, array, true, [&](const File& file) {
        each_block(array, box, [&](const IndexBox& block) {
            each_part(array, block, [&](const IndexBox& part, std::int64_t offset) {
                Plain(extents_of(part), from.strides, array.encoding.order, array.type.size,
                      from.at(box, part.start))
                    .write(file, offset);
            });
        });
        if (sync) file.sync();
    });
}

}  // namespace hocket::zarr
