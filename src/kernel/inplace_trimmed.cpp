// SPDX-License-Identifier: BSD-3-Clause
// Matrices whose sides have no common divisor, for example primes: without a few rows and columns
// they have one. Two passes make blocks long, by narrow panels and by square tiles of the panels'
// blocks, before cycles move them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/checked.hpp"
#include "base/pool.hpp"
#include "kernel/costs.hpp"
#include "kernel/fetch.hpp"
#include "kernel/inplace_steps.hpp"
#include "kernel/remainder.hpp"
#include "kernel/scratch.hpp"
#include "kernel/stream.hpp"

namespace hocket::kernel {
namespace {

/// Square tiles of (side, side) blocks, transposed in place: rows of `columns` blocks each, in the
/// positions after the panels' pass.
struct TilesOfBlocks {
    BlockPositions positions;
    std::int64_t rows, columns, side;

    std::int64_t row_bytes() const { return side * positions.block; }
    std::int64_t bytes() const { return side * row_bytes(); }
    std::int64_t memory(int threads) const { return threads * (bytes() + 4096); }
    void transposition(std::byte* array, int threads) const;

  private:
    /// Row `row` of a tile: contiguous, because `side` divides the number of positions in a row.
    std::byte* at(std::byte* array, std::int64_t tile, std::int64_t row) const {
        const std::int64_t across = columns / side;
        return array + positions.at((tile / across * side + row) * columns + tile % across * side);
    }
    void read(std::byte* array, std::int64_t tile, std::byte* buffer, Prefetcher& ahead) const;
};

/// Several rows at once, so that the memory reads several pages at a time.
void TilesOfBlocks::read(std::byte* array, std::int64_t tile, std::byte* buffer,
                         Prefetcher& ahead) const {
    constexpr std::int64_t most = 8;
    const std::int64_t block = positions.block;
    std::array<const std::byte*, most> from{};
    for (std::int64_t first = 0; first < side; first += most) {
        const std::int64_t abreast = std::min(most, side - first);
        for (std::int64_t k = 0; k < abreast; ++k)
            from[static_cast<std::size_t>(k)] = at(array, tile, first + k);
        for (std::int64_t column = 0; column < side; ++column) {
            std::byte* to = buffer + (column * side + first) * block;
            for (std::int64_t k = 0; k < abreast; ++k, to += block)
                std::memcpy(to, from[static_cast<std::size_t>(k)] + column * block,
                            static_cast<std::size_t>(block));
            ahead.worked(abreast * block);
        }
    }
}

void TilesOfBlocks::transposition(std::byte* array, int threads) const {
    const std::int64_t tiles = rows / side * (columns / side);
    const std::int64_t ranges = std::min<std::int64_t>(tiles, std::int64_t{8} * threads);
    base::parallel_for(threads, ranges, [&](std::int64_t range) {
        std::byte* const buffer = thread_scratch(Scratch::panel, bytes());
        const std::int64_t last = tiles * (range + 1) / ranges;
        for (std::int64_t tile = tiles * range / ranges; tile < last; ++tile) {
            Prefetcher ahead;
            if (tile + 1 < last) {  // approximate: rows that cross a gap are a little further apart
                const std::byte* const next = at(array, tile + 1, 0);
                ahead =
                    Prefetcher(next, side, at(array, tile + 1, 1) - next, row_bytes(), 2 * bytes());
            }
            read(array, tile, buffer, ahead);
            for (std::int64_t row = 0; row < side; ++row) {
                copy_cached(at(array, tile, row), buffer + row * row_bytes(), row_bytes());
                ahead.worked(row_bytes());
            }
        }
    });
}

/// Division of the matrix: panels of `width` rows, tiles of `side` by `side` of their blocks. A
/// buffer holds rows beyond the last panel and columns beyond the last tile meanwhile.
struct Trim {
    const Permutation& permutation;
    std::int64_t width, side;

    Panels panels() const {
        const std::int64_t columns = permutation.extents[1];
        return {.outer = 1,
                .extent = permutation.extents[0],
                .width = width,
                .inner = columns / side * side,
                .unit = permutation.block,
                .left_out = columns % side};
    }
    BlockPositions positions(std::int64_t together) const {
        const Panels all = panels();
        return {together * width * permutation.block, all.parts() / together,
                all.extent * permutation.block};
    }
    TilesOfBlocks tiles() const { return {positions(1), panels().parts(), panels().inner, side}; }
    /// The remaining permutation, for cycles.
    Permutation of_rows() const {
        const std::array<std::int64_t, 3> shape{panels().parts() / side, side,
                                                panels().inner / side};
        const std::array<std::int64_t, 3> axes{2, 1, 0};
        return make_permutation(shape, axes, positions(side).block);
    }
    Remainder last_rows() const {
        const std::int64_t count = panels().remainder();
        return {permutation, 0, permutation.extents[0] - count, count};
    }
    Remainder last_columns() const { return {permutation, 1, panels().inner, panels().left_out}; }

    double cost() const {
        const auto bytes = [&](std::size_t d) {
            return static_cast<double>(permutation.extents[d] * permutation.block);
        };
        // Blocks and rows do not begin at cache lines.
        const auto moved = static_cast<double>(positions(1).block);
        const auto row = static_cast<double>(positions(side).block);
        return buffered(panels().panel_bytes()) + transposed_blocks(tiles().bytes()) +
               20.0 / moved + scattered(positions(side).block, 3) + 32.0 / row + 0.1 +
               128.0 / bytes(0) + 128.0 / bytes(1);
    }
    std::int64_t memory(int threads) const {
        return panels().memory(threads) + tiles().memory(threads) + last_rows().bytes() +
               last_columns().bytes() +
               move_cycles_memory(of_rows(), positions(side), {.threads = threads, .schedule = {}});
    }
    void run(std::byte* array, const Pass& pass) const {
        std::vector<std::byte> rows(static_cast<std::size_t>(last_rows().bytes()));
        std::vector<std::byte> columns(static_cast<std::size_t>(last_columns().bytes()));
        last_rows().save(array, rows.data(), pass.threads);
        last_columns().save(array, columns.data(), pass.threads);
        panels().gather(array, pass.threads);
        tiles().transposition(array, pass.threads);
        move_cycles(array, of_rows(), positions(side), pass);
        last_rows().restore(array, rows.data(), pass.threads);
        last_columns().restore(array, columns.data(), pass.threads);
    }
};

}  // namespace

std::optional<Step> trimmed_step(const Permutation& permutation, const Resources& means) {
    if (permutation.batch != 1 || permutation.dimensions() != 2) return std::nullopt;
    constexpr std::int64_t longest_block = 512, longest_row = 16 << 10, largest_tile = 512 << 10;
    const std::int64_t unit = permutation.block;
    Trim best{permutation, 0, 0};
    double least = 0;
    for (std::int64_t width = 2; width <= permutation.extents[0] / 2; ++width) {
        if (width * unit > longest_block) break;
        const std::int64_t parts = permutation.extents[0] / width;
        for (std::int64_t side = 2; side <= std::min(parts, permutation.extents[1]); ++side) {
            const std::int64_t row = side * width * unit;
            if (row > longest_row || side * row > largest_tile) break;
            const Trim trim{permutation, width, side};
            if (parts % side != 0 || (best.width > 0 && trim.cost() >= least)) continue;
            if (trim.memory(means.threads) > means.memory || trim.panels().direction() == 0)
                continue;
            best.width = width;
            best.side = side;
            least = trim.cost();
        }
    }
    if (best.width == 0) return std::nullopt;
    const Panels panels = best.panels();
    return Step{
        .what = "panels of " + size_text(panels.panel_bytes()) + " make blocks of " +
                size_text(best.positions(1).block) + ", tiles of " + std::to_string(best.side) +
                " x " + std::to_string(best.side) + " of these make " +
                size_text(best.positions(best.side).block) + ", then cycles of them: " +
                best.of_rows().text() + "; " + std::to_string(panels.remainder()) + " of " +
                std::to_string(panels.extent) + " rows and " + std::to_string(panels.left_out) +
                " of " + std::to_string(permutation.extents[1]) + " columns through a buffer",
        .cost = least,
        .memory = best.memory(means.threads),
        .run = [whole = permutation, width = best.width, side = best.side](std::byte* array,
                                                                           const Pass& pass) {
            Trim{whole, width, side}.run(array, pass);
        }};
}

}  // namespace hocket::kernel
