// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/tiles.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/checked.hpp"
#include "kernel/cpu.hpp"
#include "kernel/scratch.hpp"
#include "kernel/tile_x86.hpp"

namespace hocket::kernel {
namespace {

using base::ceil_div;

void store_row(std::byte* destination, const std::byte* source, std::int64_t bytes) {
    std::memcpy(destination, source, static_cast<std::size_t>(bytes));
}

template <std::int64_t unit>
void tile_of(const std::byte* source, std::byte* destination, const Tile& tile) {
    for (std::int64_t i = 0; i < tile.ni; ++i)
        for (std::int64_t j = 0; j < tile.nj; ++j)
            std::memcpy(destination + i * tile.destination_i + j * tile.destination_j,
                        source + i * tile.source_i + j * tile.source_j, unit);
}

void tile_of_any(const std::byte* source, std::byte* destination, const Tile& tile) {
    for (std::int64_t i = 0; i < tile.ni; ++i)
        for (std::int64_t j = 0; j < tile.nj; ++j)
            std::memcpy(destination + i * tile.destination_i + j * tile.destination_j,
                        source + i * tile.source_i + j * tile.source_j,
                        static_cast<std::size_t>(tile.unit));
}

template <std::size_t... sizes>
constexpr auto tile_kernels(std::index_sequence<sizes...>) {
    return std::array<TileKernel, sizeof...(sizes)>{
        tile_of<static_cast<std::int64_t>(sizes + 1)>...};
}
constexpr auto short_unit_kernels = tile_kernels(std::make_index_sequence<64>());

}  // namespace

TileKernel select_tile_kernel(const Tile& tile) {
    if (tile.source_i == tile.unit && tile.destination_j == tile.unit)
        if (const TileKernel kernel = select_x86_tile_kernel(tile.unit, cpu_level())) return kernel;
    const auto index = static_cast<std::size_t>(tile.unit - 1);
    return index < short_unit_kernels.size() ? short_unit_kernels[index] : tile_of_any;
}

TileGrid::TileGrid(std::span<const Loop> loops, std::int64_t unit, bool streaming)
    : outer_(loops.first(loops.size() - 2)) {
    const Loop& i = loops[loops.size() - 2];
    const Loop& j = loops[loops.size() - 1];
    tile_ = {.unit = unit,
             .ni = i.extent,
             .nj = j.extent,
             .source_i = i.source,
             .source_j = j.source,
             .destination_i = i.destination,
             .destination_j = j.destination};
    // A block goes through a dense stage in cache where its rows in the destination are contiguous:
    // the stage is written in any order at no cost, and then leaves as whole cache lines, even
    // where the destination's rows lie a power of two apart and would push each other out of cache.
    staged_ = j.destination == unit && (streaming || i.destination % 4096 == 0);
    streaming_ = streaming && staged_;
    store_row_ = streaming_ ? select_stream_copy() : store_row;
    kernel_ = select_tile_kernel(tile_);
    // Long rows to read where every row written begins at a cache line; else longer rows to write,
    // so that few lines are written in parts. (Measured; 128 KiB are a part of the second-level
    // cache.)
    const bool lines = i.destination % 64 == 0;
    const std::int64_t row_bytes = lines ? 512 : 2048;
    const std::int64_t rows = std::min<std::int64_t>(lines ? 256 : 64, 2048 / unit);
    const std::int64_t units = rows * std::max<std::int64_t>(row_bytes / unit, 1);
    block_i_ = std::min(rows, i.extent);
    block_j_ = std::min(units / block_i_, j.extent);
    block_i_ = std::min(units / block_j_, i.extent);
    blocks_of_i_ = ceil_div(i.extent, block_i_);
    blocks_of_j_ = ceil_div(j.extent, block_j_);
    blocks_ = blocks_of_i_ * blocks_of_j_;
    for (const Loop& loop : outer_) blocks_ *= loop.extent;
}

void TileGrid::copy(const std::byte* source, std::byte* destination, std::int64_t first,
                    std::int64_t last) const {
    // Rows of the stage lie a line further apart than they are long, so that they spread over the
    // sets of the cache.
    const std::int64_t pitch = ceil_div<std::int64_t>(block_j_ * tile_.unit, 64) * 64 + 64;
    std::byte* const stage = staged_ ? thread_scratch(Scratch::stage, block_i_ * pitch) : nullptr;
    for (std::int64_t block = first; block < last; ++block) {
        std::int64_t rest = block;
        const std::int64_t i = rest % blocks_of_i_ * block_i_;
        rest /= blocks_of_i_;
        const std::int64_t j = rest % blocks_of_j_ * block_j_;
        rest /= blocks_of_j_;
        std::int64_t from = i * tile_.source_i + j * tile_.source_j;
        std::int64_t to = i * tile_.destination_i + j * tile_.destination_j;
        for (std::size_t d = outer_.size(); d-- > 0;) {
            from += rest % outer_[d].extent * outer_[d].source;
            to += rest % outer_[d].extent * outer_[d].destination;
            rest /= outer_[d].extent;
        }
        Tile tile = tile_;
        tile.ni = std::min(block_i_, tile_.ni - i);
        tile.nj = std::min(block_j_, tile_.nj - j);
        if (staged_) {
            tile.destination_i = pitch;
            kernel_(source + from, stage, tile);
            const std::int64_t bytes = tile.nj * tile.unit;
            for (std::int64_t row = 0; row < tile.ni; ++row)
                store_row_(destination + to + row * tile_.destination_i, stage + row * pitch,
                           bytes);
        } else {
            kernel_(source + from, destination + to, tile);
        }
    }
    if (streaming_) stream_fence();
}

}  // namespace hocket::kernel
