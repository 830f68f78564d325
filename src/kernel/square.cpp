// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/square.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/pool.hpp"
#include "kernel/scratch.hpp"
#include "kernel/stream.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {
namespace {

using base::ceil_div;

constexpr std::int64_t cache_line = 64;
constexpr std::int64_t bytes_together = 256 << 10;

/// Rows so far apart that the second-level cache keeps at once: those whose distance is a multiple
/// of a large power of two share few of its sets.
std::int64_t rows_held(std::int64_t pitch) {
    constexpr std::int64_t ways = 16;
    const std::int64_t way = least_streamed_bytes() / 2 / ways;
    return ways * (way / std::gcd(pitch, way));
}

/// Rows of a buffer lie an odd number of cache lines apart, so that they spread over all sets.
std::int64_t buffer_pitch(std::int64_t width, std::int64_t unit) {
    return (ceil_div<std::int64_t>(width * unit, cache_line) | 1) * cache_line;
}

}  // namespace

/// How a matrix is cut into tiles, and how they go back into it.
struct Squares::Tiling {
    enum class Way {
        whole,     // the matrix is one tile, which goes through a buffer
        exchange,  // of two tiles one goes through a buffer, the other straight to its place
        streamed   // both through buffers and back past the caches, which have lost the rows
    };
    Way way;
    std::int64_t width;  // units
    std::int64_t buffers() const { return way == Way::streamed ? 2 : 1; }

    explicit Tiling(const Squares& squares);
};

// A core reads pieces of less than some 1500 bytes at half the speed of memory, however early it
// asks for them: only the prefetcher of the second-level cache, which follows longer rows by
// itself, has enough lines on their way. (Measured.) So tiles are as large as fit there, two and a
// buffer.
Squares::Tiling::Tiling(const Squares& squares) {
    constexpr std::int64_t most = 512 << 10, most_of_two = 288 << 10;
    const std::int64_t unit = squares.unit, in_line = std::max<std::int64_t>(cache_line / unit, 4);
    const auto width_of = [&](std::int64_t bytes) {
        const auto units = static_cast<std::int64_t>(std::sqrt(bytes / unit));
        return std::max(units / in_line, std::int64_t{1}) * in_line;
    };
    way = Way::exchange;
    width = width_of(most_of_two);
    if (rows_held(squares.pitch) < width) {
        way = Way::streamed;
        width = width_of(most);
    }
    if (squares.side * squares.side * unit <= most) {
        way = Way::whole;
        width = squares.side;
    }
}

void Squares::transpose(std::byte* array, int threads) const {
    const Tiling tiling(*this);
    if (tiling.way == Tiling::Way::whole) return turn_whole(array, threads);
    swap_tiles(array, tiling, threads);
}

void Squares::turn_whole(std::byte* array, int threads) const {
    const std::int64_t apart = buffer_pitch(side, unit);
    const Tile tile = turned(side, side, unit, pitch, apart);
    const TileKernel turn = select_tile_kernel(tile);
    const StreamCopy store =
        side > rows_held(pitch) && side * unit >= 512 ? select_stream_copy() : copy_cached;
    // Neighbours share cache lines and pages: a thread takes many at a time.
    const std::int64_t all = outer * inner;
    const std::int64_t together = ceil_div(all, std::int64_t{8} * threads);
    base::parallel_for(threads, ceil_div(all, together), [&](std::int64_t group) {
        std::byte* const buffer = thread_scratch(Scratch::panel, side * apart);
        const std::int64_t last = std::min((group + 1) * together, all);
        for (std::int64_t k = group * together; k < last; ++k) {
            std::byte* const matrix = array + k / inner * side * pitch + k % inner * inner_step;
            turn_strips(turn, matrix, buffer, tile);
            for (std::int64_t row = 0; row < side; ++row)
                store(matrix + row * pitch, buffer + row * apart, side * unit);
        }
        stream_fence();
    });
}

void Squares::swap_tiles(std::byte* array, const Tiling& tiling, int threads) const {
    using Way = Tiling::Way;
    // Tiles are cut where cache lines begin, if all rows have these at the same places: the first
    // is narrower by what the matrix begins beyond a line. Else each row of a tile would share a
    // line with a tile that comes much later, and move it twice.
    const std::int64_t width = tiling.width;
    const bool lines = pitch % cache_line == 0 && inner_step % cache_line == 0 &&
                       cache_line % unit == 0 && width * unit % cache_line == 0 &&
                       side >= 2 * width;
    const auto in_line =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(array) % cache_line);
    const std::int64_t before = lines && in_line % unit == 0 ? in_line / unit : 0;
    const std::int64_t tiles = ceil_div(side + before, width);
    const auto begin_of = [&](std::int64_t k) {
        return std::clamp<std::int64_t>(k * width - before, 0, side);
    };
    const std::int64_t apart = buffer_pitch(width, unit);
    const Tile to_buffer = turned(width, width, unit, pitch, apart);
    const TileKernel turn = select_tile_kernel(to_buffer);
    const StreamCopy store = tiling.way == Way::streamed ? select_stream_copy() : copy_cached;
    const auto store_rows = [&](std::byte* to, const std::byte* from, std::int64_t rows,
                                std::int64_t bytes) {
        for (std::int64_t row = 0; row < rows; ++row)
            store(to + row * pitch, from + row * apart, bytes);
    };
    const auto swap_row = [&](std::byte* matrix, std::int64_t row) {
        std::byte* const upper = thread_scratch(Scratch::panel, tiling.buffers() * width * apart);
        std::byte* const lower = upper + width * apart;
        const std::int64_t r = begin_of(row), rows = begin_of(row + 1) - r;
        for (std::int64_t column = row; column < tiles; ++column) {
            const std::int64_t c = begin_of(column), columns = begin_of(column + 1) - c;
            std::byte* const above = matrix + r * pitch + c * unit;
            std::byte* const below = matrix + c * pitch + r * unit;
            Tile down = to_buffer, up = to_buffer;
            down.nj = up.ni = rows;
            down.ni = up.nj = columns;
            turn_strips(turn, above, upper, down);
            if (column != row && tiling.way == Way::exchange) {
                up.destination_i = pitch;
                turn_strips(turn, below, above, up);
            } else if (column != row) {
                turn_strips(turn, below, lower, up);
                store_rows(above, lower, rows, columns * unit);
            }
            store_rows(below, upper, columns, rows * unit);
        }
    };
    // One part is a row of tiles: row 0 has the most, so pairs of rows (first and last, …) are
    // even. Small matrices go to a thread some at a time: neighbours share cache lines and pages.
    const std::int64_t pairs = ceil_div<std::int64_t>(tiles, 2);
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
        if (tiling.way == Way::streamed) stream_fence();
    });
}

std::int64_t Squares::memory(int threads) const {
    const Tiling tiling(*this);
    return threads * (tiling.buffers() * tiling.width * buffer_pitch(tiling.width, unit) + 4096);
}

}  // namespace hocket::kernel
