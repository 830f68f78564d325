// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/square.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernel/costs.hpp"
#include "kernel/fetch.hpp"
#include "kernel/ranges.hpp"
#include "kernel/scratch.hpp"
#include "kernel/square_pairs.hpp"
#include "kernel/stream.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {
namespace {

constexpr std::int64_t cache_line = 64;

/// The number of rows at this distance that the second-level cache holds at once: rows at a
/// multiple of a large power of two share few of its sets.
std::int64_t rows_held(std::int64_t pitch) {
    constexpr std::int64_t methods = 16;
    const std::int64_t method = least_streamed_bytes() / 2 / methods;
    return methods * (method / std::gcd(pitch, method));
}

std::int64_t units_in_line(std::int64_t unit) {
    return std::max<std::int64_t>(cache_line / unit, 4);
}

/// Rows and columns of the largest tile in so many bytes.
std::int64_t side_of(std::int64_t bytes, std::int64_t unit) {
    const std::int64_t in_line = units_in_line(unit);
    const auto side = static_cast<std::int64_t>(std::sqrt(bytes / unit));
    return std::max(side / in_line, std::int64_t{1}) * in_line;
}

/// Rows and columns that are transposed together in the first-level cache.
std::int64_t small_side(std::int64_t unit) {
    return side_of(distances().small_tile, unit);
}

/// The number of rows at this distance that the first-level cache holds at once.
std::int64_t rows_near(std::int64_t pitch) {
    return near_methods() * (near_method / std::gcd(pitch, near_method));
}

/// Whether a core that fetches into its first level finds the rows of a small tile in too few sets
/// of it.
bool few_sets(std::int64_t pitch) {
    constexpr std::int64_t least_rows = 16;  // two squares of vectors
    return distances().fetching == Fetching::first_level && rows_near(pitch) < least_rows;
}

/// Whether the last level of caches does not hold the matrices.
bool are_far(const Squares& squares) {
    return squares.bytes() >= distances().far_array;
}

/// Whether pairs of such tiles are prefetched: the second-level cache holds the rows of two.
bool fetches_pairs(const Squares& squares, std::int64_t width) {
    return are_far(squares) && width * width * squares.unit <= distances().fetched_tile &&
           2 * width <= rows_held(squares.pitch);
}

/// Whether pairs of small tiles change places by way of the first-level cache. Matrices of a few
/// tiles are too short for that.
bool near_pays(const Squares& squares) {
    constexpr std::int64_t least_tiles = 2;
    return distances().fetching == Fetching::first_level && are_far(squares) &&
           squares.side >= least_tiles * small_side(squares.unit);
}

}  // namespace

/// The tiles of a matrix, and the way they are written back.
struct Squares::Tiling {
    enum class Method {
        near,      // of two small tiles one goes through a buffer, all in the first-level cache
        apart,     // the same where that holds few of their rows: both go through buffers
        inside,    // the matrix is one tile, transposed in place while the next is prefetched
        whole,     // the matrix is one tile, which goes through a buffer and past the caches
        exchange,  // of two tiles one goes through a buffer, the other directly to its position
        streamed   // both go through buffers and back past the caches, which have lost the rows
    };
    Method method;
    std::int64_t width;  // units

    explicit Tiling(const Squares& squares);
};

// A core reads pieces shorter than some 1500 bytes at half the speed of memory, however early it
// prefetches. Only the prefetcher of the second-level cache, which follows longer rows by itself,
// supports enough outstanding lines. (Measured.) So tiles are as large as two of them and a buffer
// fit there. A matrix of one tile needs no buffer there, which leaves space for the next one.
Squares::Tiling::Tiling(const Squares& squares) {
    constexpr std::int64_t most_inside = 640 << 10, most = 512 << 10;
    const std::int64_t unit = squares.unit;
    const std::int64_t bytes = squares.side * squares.side * unit;
    const std::int64_t held = rows_held(squares.pitch),
                       paired = side_of(distances().pair_tile, unit);
    if (bytes <= most_inside && squares.side <= held) {
        method = Method::inside;
        width = squares.side;
    } else if (near_pays(squares)) {
        // The first level does not hold these tiles anyway, and longer rows save lines. (Measured.)
        const bool few = few_sets(squares.pitch);
        method = few ? Method::apart : Method::near;
        width = side_of((few ? 3 : 1) * distances().small_tile, unit);
    } else if (bytes <= most) {
        method = Method::whole;
        width = squares.side;
    } else if (paired <= held) {
        method = Method::exchange;
        width = paired;
    } else {
        method = Method::streamed;
        width = side_of(most, unit);
    }
}

/// Transposes a tile in the second-level cache: swaps pairs of its small squares through a buffer
/// in the first-level cache.
class Squares::Inside {
  public:
    Inside(std::int64_t unit, std::int64_t pitch)
        : unit_(unit),
          pitch_(pitch),
          in_line_(units_in_line(unit)),
          side_(small_side(unit)),
          apart_(buffer_pitch(most(), unit)),
          down_(transposed(1, 1, unit, pitch, apart_)),
          up_(transposed(1, 1, unit, pitch, pitch)),
          turn_down_(select_tile_kernel(down_)),
          turn_up_(select_tile_kernel(up_)) {}

    std::int64_t memory() const { return most() * apart_; }

    void run(std::byte* tile, std::int64_t side, std::byte* buffer, Prefetcher& ahead) const {
        for (std::int64_t r = 0, next_r; r < side; r = next_r) {
            next_r = end_of(r, side, tile);
            for (std::int64_t c = r, next_c; c < side; c = next_c) {
                next_c = end_of(c, side, tile);
                Tile down = down_, up = up_;
                down.nj = up.ni = next_r - r;
                down.ni = up.nj = next_c - c;
                std::byte* const above = tile + r * pitch_ + c * unit_;
                std::byte* const below = tile + c * pitch_ + r * unit_;
                transpose_strips(turn_down_, above, buffer, down, &ahead);
                if (r != c) transpose_strips(turn_up_, below, above, up, &ahead);
                for (std::int64_t row = 0; row < down.ni; ++row)
                    copy_cached(below + row * pitch_, buffer + row * apart_, down.nj * unit_);
            }
        }
    }

  private:
    std::int64_t most() const { return side_ + 2 * in_line_; }

    /// The end of a small square that begins at `first`: at a line end of the tile's rows, without
    /// short rests.
    std::int64_t end_of(std::int64_t first, std::int64_t side, const std::byte* tile) const {
        const auto past = static_cast<std::int64_t>(
            reinterpret_cast<std::uintptr_t>(tile + (first + side_) * unit_) % cache_line);
        const bool lines = pitch_ % cache_line == 0 && past % unit_ == 0;
        const std::int64_t end =
            first + side_ + (lines && past > 0 ? (cache_line - past) / unit_ : 0);
        return end + in_line_ > side ? side : end;
    }

    std::int64_t unit_, pitch_, in_line_, side_, apart_;
    Tile down_, up_;
    TileKernel turn_down_, turn_up_;
};

void Squares::transpose(std::byte* array, int threads) const {
    const Tiling tiling(*this);
    switch (tiling.method) {
        case Tiling::Method::inside:
        case Tiling::Method::whole:
            return turn_whole(array, tiling, threads);
        case Tiling::Method::near:
        case Tiling::Method::apart:
        case Tiling::Method::exchange:
        case Tiling::Method::streamed:
            return swap_tiles(array, tiling, threads);
    }
}

void Squares::turn_whole(std::byte* array, const Tiling& tiling, int threads) const {
    const bool inside = tiling.method == Tiling::Method::inside;
    const Inside small(unit, pitch);
    const std::int64_t apart = buffer_pitch(side, unit);
    const Tile tile = transposed(side, side, unit, pitch, apart);
    const TileKernel transposition = select_tile_kernel(tile);
    const StreamCopy store = side * unit >= 512 ? select_stream_copy() : copy_cached;
    const auto position = [&](std::int64_t k) {
        return array + k / inner * side * pitch + k % inner * inner_step;
    };
    const auto run = [&](std::int64_t first, std::int64_t last) {
        std::byte* const buffer =
            thread_scratch(Scratch::panel, inside ? small.memory() : side * apart);
        for (std::int64_t k = first; k < last; ++k) {
            std::byte* const matrix = position(k);
            if (inside) {
                Prefetcher ahead;
                if (k + 1 < last)
                    ahead = Prefetcher(position(k + 1), side, pitch, side * unit,
                                       side * side * unit, Fetching::second_level);
                small.run(matrix, side, buffer, ahead);
                continue;
            }
            transpose_strips(transposition, matrix, buffer, tile);
            for (std::int64_t row = 0; row < side; ++row)
                store(matrix + row * pitch, buffer + row * apart, side * unit);
        }
        stream_fence();
    };
    // Neighbours share cache lines and pages, so a thread takes many at a time.
    in_ranges(threads, outer * inner, bytes(), run, more_ranges);
}

void Squares::swap_tiles(std::byte* array, const Tiling& tiling, int threads) const {
    using Method = Tiling::Method;
    const std::int64_t width = tiling.width, apart = buffer_pitch(width, unit);
    const bool past = tiling.method == Method::streamed;
    const bool both = past || tiling.method == Method::apart;
    const bool fetched = tiling.method == Method::exchange ? fetches_pairs(*this, width) : !past;
    const Tile to_buffer = transposed(1, 1, unit, pitch, apart);
    const Tile in_place = transposed(1, 1, unit, pitch, pitch);
    const TileKernel turn_down = select_tile_kernel(to_buffer);
    const TileKernel turn_up = select_tile_kernel(both ? to_buffer : in_place);
    const StreamCopy store = past ? select_stream_copy() : copy_cached;
    const TilePairs pairs(*this, array, width);
    // The first level does not hold two tiles and the next two if their rows share its sets.
    const Fetching fetching =
        tiling.method != Method::exchange && (both || 4 * width <= rows_near(pitch))
            ? Fetching::first_level
            : Fetching::second_level;
    const auto store_rows = [&](std::byte* to, const std::byte* from, std::int64_t rows,
                                std::int64_t bytes, Prefetcher& ahead) {
        for (std::int64_t row = 0; row < rows; ++row) {
            store(to + row * pitch, from + row * apart, bytes);
            ahead.worked(bytes);
        }
    };
    // Large tiles are prefetched during both transpositions and while the buffer is written: up to
    // 1.1 times as fast as during transpositions alone. (Measured.)
    const std::int64_t phases = tiling.method == Method::exchange ? 3 : 2;
    const auto run = [&](std::int64_t first, std::int64_t last) {
        std::byte* const buffer = thread_scratch(Scratch::panel, memory_of(tiling));
        std::byte* const lower = buffer + width * apart;
        std::vector<std::int64_t> coming_rows;
        for (std::int64_t k = first; k < last; ++k) {
            const TilePairs::Pair now = pairs.at(k);
            const std::int64_t tile_bytes = now.rows * now.columns * unit;
            Prefetcher ahead;
            if (fetched && k + 1 < last) {
                const TilePairs::Pair coming = pairs.at(k + 1);
                coming_rows.clear();
                for (std::int64_t row = 0; row < coming.rows; ++row)
                    coming_rows.push_back(coming.above - array + row * pitch);
                for (std::int64_t row = 0; !coming.diagonal() && row < coming.columns; ++row)
                    coming_rows.push_back(coming.below - array + row * pitch);
                ahead = Prefetcher(array, coming_rows, std::max(coming.rows, coming.columns) * unit,
                                   (now.diagonal() ? phases - 1 : phases) * tile_bytes, fetching);
            }
            Tile down = to_buffer, up = both ? to_buffer : in_place;
            down.nj = up.ni = now.rows;
            down.ni = up.nj = now.columns;
            transpose_strips(turn_down, now.above, buffer, down, fetched ? &ahead : nullptr);
            if (!now.diagonal())
                transpose_strips(turn_up, now.below, both ? lower : now.above, up,
                                 fetched ? &ahead : nullptr);
            if (!now.diagonal() && both)
                store_rows(now.above, lower, now.rows, now.columns * unit, ahead);
            store_rows(now.below, buffer, now.columns, now.rows * unit, ahead);
        }
        if (past) stream_fence();
    };
    in_ranges(threads, pairs.count(), bytes(), run, more_ranges);
}

double Squares::cost() const {
    // Rows that share few sets cost more.
    const double sets = few_sets(pitch) ? swapped_apart() - swapped_tiles(true) : 0.0;
    const Tiling tiling(*this);
    // A row of tiles begins and ends with a narrower one, which takes as long. The costs are those
    // of matrices of this side. Sides of a few tiles cost less than that. (Measured.)
    constexpr double measured_side = 1500, most = 1.4;
    const double edges =
        std::clamp(1.0 + 2.0 * static_cast<double>(tiling.width) *
                             (1.0 / static_cast<double>(side) - 1.0 / measured_side),
                   1.0, most);
    switch (tiling.method) {
        case Tiling::Method::near:
            return swapped_tiles(true) * edges;
        case Tiling::Method::apart:
            return swapped_apart() * edges;
        case Tiling::Method::inside:
            // The cache must also hold the next tile.
            return transposed_tiles(unit, side) + (2 * side > rows_held(pitch) ? 0.1 : 0.0) +
                   std::max(sets, 0.0);
        case Tiling::Method::exchange:
            return swapped_tiles(true);
        default:
            return swapped_tiles(false);
    }
}

std::int64_t Squares::memory_of(const Tiling& tiling) const {
    const std::int64_t buffer = tiling.width * buffer_pitch(tiling.width, unit);
    switch (tiling.method) {
        case Tiling::Method::inside:
            return Inside(unit, pitch).memory();
        case Tiling::Method::apart:
        case Tiling::Method::streamed:
            return 2 * buffer;
        default:
            return buffer;
    }
}

std::int64_t Squares::memory(int threads) const {
    return threads * (memory_of(Tiling(*this)) + 4096);
}

}  // namespace hocket::kernel
