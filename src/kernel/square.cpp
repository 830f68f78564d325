// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/square.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/pool.hpp"
#include "kernel/scratch.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {
namespace {

using base::ceil_div;

/// Units in a side of a tile: rows of 256 bytes; of 128 where rows lie whole pages apart. Two
/// tiles, and the two that are fetched meanwhile, then find room in the second-level cache although
/// their rows share few of its sets.
std::int64_t tile_side(std::int64_t unit, std::int64_t pitch) {
    const std::int64_t row = pitch % 4096 == 0 && unit >= 8 ? 128 : 256;
    return std::max<std::int64_t>(row / unit, 4);
}

constexpr std::int64_t bytes_together = 256 << 10;

std::int64_t buffer_pitch(std::int64_t width, std::int64_t unit) {
    return ceil_div<std::int64_t>(width * unit, 64) * 64 + 64;
}

std::int64_t buffer_bytes(std::int64_t width, std::int64_t unit) {
    return 2 * width * buffer_pitch(width, unit);
}

void prefetch_rows(const std::byte* from, std::int64_t pitch, std::int64_t rows,
                   std::int64_t bytes) {
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t line = 0; line < bytes; line += 64)
            __builtin_prefetch(from + row * pitch + line, 0, 2);
}

void store_rows(std::byte* to, std::int64_t pitch, const std::byte* from, std::int64_t rows,
                std::int64_t bytes, std::int64_t from_pitch) {
    for (std::int64_t row = 0; row < rows; ++row)
        std::memcpy(to + row * pitch, from + row * from_pitch, static_cast<std::size_t>(bytes));
}

}  // namespace

void Squares::transpose(std::byte* array, int threads) const {
    // Tiles of large matrices are cut where cache lines begin, if all rows have these at the same
    // places: the first is narrower by what the matrix begins beyond a line. Else each row of a
    // tile would share a line with a tile that comes much later, and move it twice.
    const std::int64_t width = tile_side(unit, pitch);
    const bool lines = pitch % 64 == 0 && inner_step % 64 == 0 && 64 % unit == 0 &&
                       width * unit % 64 == 0 && side >= 4 * width;
    const auto in_line = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(array) % 64);
    const std::int64_t before = lines && in_line % unit == 0 ? in_line / unit : 0;
    const std::int64_t tiles = ceil_div(side + before, width);
    const auto begin_of = [&](std::int64_t k) {
        return std::clamp<std::int64_t>(k * width - before, 0, side);
    };
    const std::int64_t from_pitch = buffer_pitch(width, unit);
    Tile tile{.unit = unit,
              .ni = width,
              .nj = width,
              .source_i = unit,
              .source_j = pitch,
              .destination_i = from_pitch,
              .destination_j = unit};
    const TileKernel turn = select_tile_kernel(tile);
    // One part is a row of tiles: row 0 has the most, so pairs of rows (first and last, …) are
    // even.
    const std::int64_t pairs = ceil_div<std::int64_t>(tiles, 2);
    const auto swap_row = [&](std::byte* matrix, std::int64_t row) {
        std::byte* const upper = thread_scratch(Scratch::panel, buffer_bytes(width, unit));
        std::byte* const lower = upper + width * from_pitch;
        const std::int64_t r = begin_of(row), rows = begin_of(row + 1) - r;
        for (std::int64_t column = row; column < tiles; ++column) {
            const std::int64_t c = begin_of(column), columns = begin_of(column + 1) - c;
            std::byte* const above = matrix + r * pitch + c * unit;
            std::byte* const below = matrix + c * pitch + r * unit;
            Tile now = tile;
            now.nj = rows;
            now.ni = columns;
            if (column + 1 < tiles) {
                const std::int64_t next = begin_of(column + 2) - c - columns;
                prefetch_rows(below + columns * pitch, pitch, next, rows * unit);
                prefetch_rows(above + columns * unit, pitch, rows, next * unit);
            }
            turn(above, upper, now);
            if (column != row) {
                now.nj = columns;
                now.ni = rows;
                turn(below, lower, now);
                store_rows(above, pitch, lower, rows, columns * unit, from_pitch);
            }
            store_rows(below, pitch, upper, columns, rows * unit, from_pitch);
        }
    };
    // Small matrices go to a thread some at a time: neighbours share cache lines and pages.
    const std::int64_t parts = outer * inner * pairs;
    const std::int64_t together = std::max<std::int64_t>(
        1, std::min(bytes_together / (side * side * unit), parts / (std::int64_t{4} * threads)));
    base::parallel_for(threads, ceil_div(parts, together), [&](std::int64_t group) {
        const std::int64_t last = std::min((group + 1) * together, parts);
        for (std::int64_t part = group * together; part < last; ++part) {
            std::byte* const matrix =
                array + part / pairs / inner * side * pitch + part / pairs % inner * inner_step;
            const std::int64_t row = part % pairs, other = tiles - 1 - row;
            swap_row(matrix, row);
            if (other != row) swap_row(matrix, other);
        }
    });
}

std::int64_t Squares::memory(int threads) const {
    return threads * (buffer_bytes(tile_side(unit, pitch), unit) + 4096);
}

}  // namespace hocket::kernel
