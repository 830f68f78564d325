// SPDX-License-Identifier: BSD-3-Clause
// Copies whose source and destination have their smallest strides in different dimensions, i and j.
// They proceed in blocks of both that fit the cache, so that every cached line is used whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hocket/kernel.hpp"
#include "kernel/fetch.hpp"
#include "kernel/stream.hpp"

namespace hocket::kernel {

/// One block: nj rows of ni units in the source; ni rows of nj units in the destination.
struct Tile {
    std::int64_t unit;                // contiguous bytes
    std::int64_t ni, nj;              // i: the dimension with the source's smallest stride; j: with
                                      // the destination's
    std::int64_t source_i, source_j;  // byte strides
    std::int64_t destination_i, destination_j;
};

using TileKernel = void (*)(const std::byte* source, std::byte* destination, const Tile& tile);

/// The offsets of equally spaced rows.
struct EvenRows {
    std::int64_t pitch;
    std::int64_t operator[](std::int64_t row) const { return row * pitch; }
};

/// One block whose rows are not: units are contiguous along i in the source, and along j in the
/// destination.
struct ListedTile {
    std::int64_t unit, ni, nj;
    const std::int64_t* source_rows;       // the offset of each j
    const std::int64_t* destination_rows;  // the offset of each i
    bool lines;                            // all destination_rows are multiples of a cache line
};

using ListedTileKernel = void (*)(const std::byte* source, std::byte* destination,
                                  const ListedTile& tile);

/// A tile, and others of its strides, each a step of the loop further.
using RepeatedTileKernel = void (*)(const std::byte* source, std::byte* destination,
                                    const Tile& tile, const Loop& loop);

struct TileKernels {
    TileKernel even = nullptr;
    ListedTileKernel listed = nullptr;
    RepeatedTileKernel repeated = nullptr;
};

/// (rows, columns) units, whose rows lie `pitch` bytes apart, to (columns, rows) whose rows lie
/// `destination_pitch` bytes apart.
inline Tile transposed(std::int64_t rows, std::int64_t columns, std::int64_t unit,
                       std::int64_t pitch, std::int64_t destination_pitch) {
    return {.unit = unit,
            .ni = columns,
            .nj = rows,
            .source_i = unit,
            .source_j = pitch,
            .destination_i = destination_pitch,
            .destination_j = unit};
}

/// That cache: so many times these bytes. Addresses that differ by a multiple of them share a set.
/// Not more than the processors that have been measured: others may have larger sets.
constexpr std::int64_t near_method = 4096, most_near_methods = 12;
inline std::int64_t near_methods() {
    return std::clamp<std::int64_t>(distances().near_cache / near_method, 1, most_near_methods);
}

/// Rows of a buffer are an odd number of cache lines apart, so that they spread over all sets.
inline std::int64_t buffer_pitch(std::int64_t width, std::int64_t unit) {
    constexpr std::int64_t line = 64;
    return ((width * unit + line - 1) / line | 1) * line;
}

/// The fastest kernel of this processor for tiles of these strides, whatever their extents.
TileKernel select_tile_kernel(const Tile& tile);
/// The same for tiles with listed rows, of at most these extents.
ListedTileKernel select_listed_tile_kernel(std::int64_t unit, std::int64_t ni, std::int64_t nj);

/// Transposes a large tile some rows of the source at a time. It reads long rows one after another,
/// so that hardware prefetchers recognise them, and kernels that go down columns find these in
/// cache. Prefetches `ahead` meanwhile.
/// The rows of a strip while a prefetcher works: a line of the destination, or two.
constexpr std::int64_t rows_of_strip(std::int64_t unit) {
    return std::clamp<std::int64_t>(64 / unit, 8, 16);
}
void transpose_strips(TileKernel kernel, const std::byte* source, std::byte* destination, Tile tile,
                      Prefetcher* ahead = nullptr);
void transpose_strips(ListedTileKernel kernel, const std::byte* source, std::byte* destination,
                      ListedTile tile, Prefetcher* ahead = nullptr);

/// The tile of the last two loops, i and j.
Tile tile_of_loops(std::span<const Loop> loops, std::int64_t unit);

/// A box as blocks of tiles. The last two of `loops` are i and j.
class TileGrid {
  public:
    /// `beyond_cache`: memory has to be prefetched. `destination` is the address of the
    /// destination: blocks begin at its cache lines.
    TileGrid(std::span<const Loop> loops, std::int64_t unit, Streaming streaming, bool beyond_cache,
             const std::byte* destination);
    std::int64_t blocks() const { return blocks_; }
    /// Copies the blocks [first, last).
    void copy(const std::byte* source, std::byte* destination, std::int64_t first,
              std::int64_t last) const;

  private:
    /// One block: its position in bytes, and its size in units.
    struct BlockExtent {
        std::int64_t from, to, ni, nj;
    };
    BlockExtent block_extent(std::int64_t block) const;

    std::span<const Loop> outer_;
    Tile tile_;
    TileKernel kernel_;
    StreamCopy store_row_;
    bool staged_, streaming_, fetched_;
    std::int64_t block_i_, block_j_;  // units
    std::int64_t before_j_ = 0;       // units by which the first block of a row is smaller
    std::int64_t panel_;              // blocks of i that each step along j takes
    std::int64_t blocks_of_i_, blocks_of_j_, blocks_;
};

}  // namespace hocket::kernel
