// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/tiles.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "kernel/cpu.hpp"
#include "kernel/narrow_tiles.hpp"
#include "kernel/scratch.hpp"
#include "kernel/tile_vectors.hpp"

namespace hocket::kernel {
namespace {

using base::ceil_div;

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

/// Units of whole lines: a function call for each would cost more than the copy.
void tile_of_lines(const std::byte* source, std::byte* destination, const Tile& tile) {
    constexpr std::int64_t line = 64;
    for (std::int64_t i = 0; i < tile.ni; ++i)
        for (std::int64_t j = 0; j < tile.nj; ++j)
            for (std::int64_t at = 0; at < tile.unit; at += line)
                std::memcpy(destination + i * tile.destination_i + j * tile.destination_j + at,
                            source + i * tile.source_i + j * tile.source_j + at, line);
}

constexpr std::int64_t least_streamed_row = 256;
// The hardware prefetches longer rows of the source by itself, and better.
constexpr std::int64_t longest_fetched_row = 512;
constexpr std::int64_t blocks_of_panel = 4;
constexpr std::int64_t rows_together = 16;
// Invariant: no part of a tile cuts its short side, because narrow kernels read and write all of
// it.
static_assert(rows_together > longest_narrow_side);

template <std::int64_t unit>
void listed_of(const std::byte* source, std::byte* destination, const ListedTile& tile) {
    for (std::int64_t i = 0; i < tile.ni; ++i)
        for (std::int64_t j = 0; j < tile.nj; ++j)
            std::memcpy(destination + tile.destination_rows[i] + j * unit,
                        source + tile.source_rows[j] + i * unit, unit);
}

/// Along the source, which memory serves faster in order.
void listed_of_any(const std::byte* source, std::byte* destination, const ListedTile& tile) {
    for (std::int64_t j = 0; j < tile.nj; ++j)
        for (std::int64_t i = 0; i < tile.ni; ++i)
            copy_cached(destination + tile.destination_rows[i] + j * tile.unit,
                        source + tile.source_rows[j] + i * tile.unit, tile.unit);
}

/// A function call for each unit would cost more than the copy.
template <std::int64_t part>
void listed_of_parts(const std::byte* source, std::byte* destination, const ListedTile& tile) {
    for (std::int64_t j = 0; j < tile.nj; ++j)
        for (std::int64_t i = 0; i < tile.ni; ++i)
            for (std::int64_t at = 0; at < tile.unit; at += part)
                std::memcpy(destination + tile.destination_rows[i] + j * tile.unit + at,
                            source + tile.source_rows[j] + i * tile.unit + at, part);
}

template <std::size_t... sizes>
constexpr auto tile_kernels(std::index_sequence<sizes...>) {
    return std::array<TileKernels, sizeof...(sizes)>{
        {{tile_of<static_cast<std::int64_t>(sizes + 1)>,
          listed_of<static_cast<std::int64_t>(sizes + 1)>}...}};
}
constexpr auto short_unit_kernels = tile_kernels(std::make_index_sequence<64>());

}  // namespace

TileKernel select_tile_kernel(const Tile& tile) {
    if (tile.source_i == tile.unit && tile.destination_j == tile.unit)
        if (const TileKernels kernels = select_vector_kernels(tile.unit, cpu_level()); kernels.even)
            return kernels.even;
    const auto index = static_cast<std::size_t>(tile.unit - 1);
    if (index < short_unit_kernels.size()) return short_unit_kernels[index].even;
    return tile.unit % 64 == 0 && tile.unit <= 1024 ? tile_of_lines : tile_of_any;
}

ListedTileKernel select_listed_tile_kernel(std::int64_t unit, std::int64_t ni, std::int64_t nj) {
    // The squares of AVX-512 would be half empty.
    const bool narrow = std::min(ni, nj) * unit <= 32;
    const CpuLevel level = narrow ? std::min(cpu_level(), CpuLevel::avx2) : cpu_level();
    if (const TileKernels kernels = select_vector_kernels(unit, level); kernels.listed)
        return kernels.listed;
    const auto index = static_cast<std::size_t>(unit - 1);
    if (index < short_unit_kernels.size()) return short_unit_kernels[index].listed;
    if (unit > 512) return listed_of_any;
    return unit % 64 == 0   ? listed_of_parts<64>
           : unit % 16 == 0 ? listed_of_parts<16>
                            : listed_of_any;
}

namespace {

/// The strips of a tile of (rows, columns) units. `lines`: all rows of the destination begin at the
/// same units of cache lines. Calls part(row, rows, column, columns).
template <class Part>
void for_strips(std::int64_t rows, std::int64_t columns, std::int64_t unit,
                const std::byte* destination, bool lines, Prefetcher* ahead, Part&& part) {
    constexpr std::int64_t line = 64;
    // Prefetches come in small portions, because a core waits for 64 lines at once. (Measured: 10
    // %.)
    const std::int64_t between_looks = ahead && ahead->into_first_level() ? 1024 : 2048;
    const std::int64_t strip = ahead ? rows_of_strip(unit) : 16;
    const std::int64_t together =
        ahead ? std::max<std::int64_t>(between_looks / strip / unit, 1) : columns;
    // The first strip ends at a line end of the destination, if lines begin at the same units of
    // all its rows: the other strips then write whole lines.
    std::int64_t now = strip;
    const auto past =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(destination) % line);
    if (lines && line % unit == 0 && past % unit == 0) now += (line - past) % line / unit;
    for (std::int64_t row = 0; row < rows; row += now, now = strip) {
        const std::int64_t height = std::min(now, rows - row);
        for (std::int64_t column = 0, width = 0; column < columns; column += width) {
            // No short rest: kernels are slow on columns that are narrower than a square.
            const std::int64_t left = columns - column;
            width = left < together + line ? left : together;
            part(row, height, column, width);
            if (ahead) ahead->worked(width * height * unit);
        }
    }
}

/// The size of equal parts of about `wanted`.
std::int64_t even_part(std::int64_t extent, std::int64_t wanted) {
    return ceil_div(extent, std::max<std::int64_t>((extent + wanted / 2) / wanted, 1));
}

}  // namespace

void transpose_strips(TileKernel kernel, const std::byte* source, std::byte* destination, Tile tile,
                      Prefetcher* ahead) {
    const bool lines = tile.destination_i % 64 == 0 && tile.destination_j == tile.unit;
    for_strips(tile.nj, tile.ni, tile.unit, destination, lines, ahead,
               [&, whole = tile](std::int64_t row, std::int64_t rows, std::int64_t column,
                                 std::int64_t columns) {
                   tile.nj = rows;
                   tile.ni = columns;
                   kernel(source + row * whole.source_j + column * whole.source_i,
                          destination + row * whole.destination_j + column * whole.destination_i,
                          tile);
               });
}

void transpose_strips(ListedTileKernel kernel, const std::byte* source, std::byte* destination,
                      ListedTile tile, Prefetcher* ahead) {
    for_strips(tile.nj, tile.ni, tile.unit, destination, tile.lines, ahead,
               [&, whole = tile](std::int64_t row, std::int64_t rows, std::int64_t column,
                                 std::int64_t columns) {
                   tile.nj = rows;
                   tile.ni = columns;
                   tile.source_rows = whole.source_rows + row;
                   tile.destination_rows = whole.destination_rows + column;
                   kernel(source + column * whole.unit, destination + row * whole.unit, tile);
               });
}

Tile tile_of_loops(std::span<const Loop> loops, std::int64_t unit) {
    const Loop& i = loops[loops.size() - 2];
    const Loop& j = loops[loops.size() - 1];
    return {.unit = unit,
            .ni = i.extent,
            .nj = j.extent,
            .source_i = i.source,
            .source_j = j.source,
            .destination_i = i.destination,
            .destination_j = j.destination};
}

TileGrid::TileGrid(std::span<const Loop> loops, std::int64_t unit, Streaming streaming,
                   bool beyond_cache, const std::byte* destination)
    : outer_(loops.first(loops.size() - 2)), tile_(tile_of_loops(loops, unit)) {
    const Loop& i = loops[loops.size() - 2];
    const Loop& j = loops[loops.size() - 1];
    // A block goes through a dense stage in cache if its rows in the destination are contiguous.
    // Writes to the stage are cheap in any order. The stage is then written as whole cache lines,
    // even if the destination's rows are a power of two apart and would evict each other (half of
    // the time with 2 KiB, measured). Short rows are not written as whole lines: the caches join
    // their ends.
    const bool long_rows = j.destination == unit && j.extent * unit >= least_streamed_row;
    const bool conflicting = j.destination == unit && i.destination % 4096 == 0;
    streaming_ = long_rows && (streaming == Streaming::all ||
                               (streaming == Streaming::conflicting && conflicting));
    // Ordinary stores go through it only if the first level does not hold a line of each row.
    constexpr std::int64_t most_rows = 64, page = 4096;
    const std::int64_t in_sets =
        std::gcd(i.destination, page) * std::min(i.extent, most_rows) / page;
    staged_ = streaming_ || (j.destination == unit && in_sets > near_methods());
    const TileKernel narrow = select_narrow_kernel(tile_);
    kernel_ = narrow ? narrow : select_tile_kernel(tile_);
    // A line that two blocks write in parts is read and written by each of them. (For arrays 16
    // bytes beyond a line, as malloc returns them, that took more than half of the speed.) So
    // blocks begin at cache lines if these begin at the same units of every row, and the
    // first-level cache then holds the lines of both sides; otherwise rows to write are long, so
    // that few lines are written in parts. (Measured.)
    const std::int64_t line = 64 / std::gcd<std::int64_t>(64, unit);  // units
    const auto in_line =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(destination) % 64);
    const bool lines = i.destination % 64 == 0 && in_line % unit == 0;
    // Long units are read as whole lines anyway; writes should be contiguous, too. If units begin
    // within a line, ordinary stores let the caches join the lines: 25 % faster on average, with a
    // few pages of the source at a time instead of many. (Measured, from 32 to 512 bytes; other
    // units are faster streamed.)
    const bool wide = unit >= 32, ordinary = wide && !lines && unit % 32 == 0;
    if (ordinary) streaming_ = staged_ = false;
    constexpr std::int64_t few_lines = 512, most_block = 16 << 10;
    std::int64_t tall = few_lines;
    if (lines && !wide) tall = distances().copy_piece;
    if (wide && !lines) tall = ordinary && unit <= 128 ? 16 * unit : 0;
    const std::int64_t rows = std::clamp<std::int64_t>(tall / unit, 8, most_rows);
    // Short units that begin within lines: about 1024 rows of the source at most, so that the
    // second-level TLB holds their pages. (Measured.)
    const std::int64_t row_bytes = wide    ? most_block / rows
                                   : lines ? std::min(most_block / rows, few_lines)
                                           : std::min<std::int64_t>(1024 * unit, 2048);
    store_row_ = streaming_ ? select_stream_copy() : copy_cached;
    const std::int64_t units = rows * std::max<std::int64_t>(row_bytes / unit, 1);
    block_i_ = std::min(rows, i.extent);
    block_j_ = std::min(units / block_i_, j.extent);
    block_i_ = std::min(units / block_j_, i.extent);
    // Even blocks: during a narrow one, there is no time to prefetch a wide one.
    if (lines && !wide) {
        block_i_ = even_part(i.extent, block_i_);
        block_j_ = std::min(ceil_div(even_part(j.extent, block_j_), line) * line, j.extent);
    }
    const std::int64_t source_row = block_i_ * i.source;
    // While a stage is stored, nothing is read that the hardware could prefetch.
    const std::int64_t longest = staged_ ? 4 * longest_fetched_row : longest_fetched_row;
    fetched_ = beyond_cache && i.source > 0 && source_row <= longest &&
               j.source != source_row;  // rows without gaps are one long row
    blocks_of_i_ = ceil_div(i.extent, block_i_);
    // Short pieces of many rows would each touch a page: 20 % more time. (Measured.)
    panel_ = streaming_ && lines ? std::min(blocks_of_i_, blocks_of_panel) : blocks_of_i_;
    if (lines && j.destination == unit && block_j_ < j.extent && block_j_ >= line) {
        block_j_ -= block_j_ % line;
        before_j_ = in_line / unit;
    }
    blocks_of_j_ = ceil_div(j.extent + before_j_, block_j_);
    blocks_ = blocks_of_i_ * blocks_of_j_;
    for (const Loop& loop : outer_) blocks_ *= loop.extent;
}

TileGrid::BlockExtent TileGrid::block_extent(std::int64_t block) const {
    const std::int64_t in_box = blocks_of_i_ * blocks_of_j_, in_panel = panel_ * blocks_of_j_;
    const std::int64_t at = block % in_box, first_i = at / in_panel * panel_;
    const std::int64_t across = std::min(panel_, blocks_of_i_ - first_i);
    const std::int64_t i = (first_i + at % in_panel % across) * block_i_;
    const std::int64_t end_j = (at % in_panel / across + 1) * block_j_ - before_j_;
    const std::int64_t j = std::max<std::int64_t>(end_j - block_j_, 0);
    block /= in_box;
    BlockExtent extent{.from = i * tile_.source_i + j * tile_.source_j,
                       .to = i * tile_.destination_i + j * tile_.destination_j,
                       .ni = std::min(block_i_, tile_.ni - i),
                       .nj = std::min(end_j, tile_.nj) - j};
    for (std::size_t d = outer_.size(); d-- > 0;) {
        extent.from += block % outer_[d].extent * outer_[d].source;
        extent.to += block % outer_[d].extent * outer_[d].destination;
        block /= outer_[d].extent;
    }
    return extent;
}

void TileGrid::copy(const std::byte* source, std::byte* destination, std::int64_t first,
                    std::int64_t last) const {
    // Rows of the stage are padded by a cache line, so that they spread over the sets of the cache.
    const std::int64_t pitch = ceil_div<std::int64_t>(block_j_ * tile_.unit, 64) * 64 + 64;
    std::byte* const stage = staged_ ? thread_scratch(Scratch::stage, block_i_ * pitch) : nullptr;
    BlockExtent next = block_extent(first);
    for (std::int64_t block = first; block < last; ++block) {
        const BlockExtent now = next;
        const bool fetches = fetched_ && block + 1 < last;
        if (block + 1 < last) next = block_extent(block + 1);
        Tile tile = tile_;
        tile.ni = now.ni;
        if (staged_) tile.destination_i = pitch;
        std::byte* const to = staged_ ? stage : destination + now.to;
        // Two thirds of the prefetches come while the stage is stored, because these stores wait
        // for memory, too. (Measured: 1.2 to 1.5 times as fast as all of them before.)
        const std::int64_t bytes = now.nj * tile_.unit, work = (staged_ ? 3 : 1) * now.ni * bytes;
        Prefetcher ahead = fetches ? Prefetcher(source + next.from, next.nj, tile_.source_j,
                                                next.ni * tile_.source_i, work)
                                   : Prefetcher();
        const std::int64_t together = fetches ? rows_together : now.nj;
        for (std::int64_t j = 0; j < now.nj; j += together) {
            const std::int64_t end = std::min(j + together, now.nj);
            tile.nj = end - j;
            kernel_(source + now.from + j * tile_.source_j, to + j * tile_.destination_j, tile);
            ahead.worked(tile.nj * now.ni * tile_.unit);
        }
        if (!staged_) continue;
        for (std::int64_t row = 0; row < now.ni; ++row) {
            ahead.worked(2 * bytes);
            store_row_(destination + now.to + row * tile_.destination_i, stage + row * pitch,
                       bytes);
        }
    }
    if (streaming_) stream_fence();
}

}  // namespace hocket::kernel
