// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/panels.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/pool.hpp"
#include "hocket/kernel.hpp"
#include "kernel/scratch.hpp"
#include "kernel/stream.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {
namespace {

using Strides = std::array<std::int64_t, 2>;

/// How a panel goes back into the array. Past the caches only where these have lost its lines: a
/// line that is streamed while a cache holds it takes twice as long.
StreamCopy select_write_back(std::int64_t bytes) {
    return bytes >= least_streamed_bytes() / 2 ? select_stream_copy() : copy_cached;
}

/// (rows, columns) units to (columns, rows) in a buffer in cache.
class Turn {
  public:
    Turn(std::int64_t rows, std::int64_t columns, std::int64_t unit, std::int64_t from_pitch,
         std::int64_t to_pitch)
        : tile_(turned(rows, columns, unit, from_pitch, to_pitch)),
          kernel_(select_tile_kernel(tile_)) {
        // Rows of the buffer that would push each other out of cache need a stage.
        if (unit > 64 || to_pitch % 4096 == 0)
            copy_.emplace(Strides{rows, columns}, unit, Strides{from_pitch, unit},
                          Strides{unit, to_pitch});
    }
    void run(const std::byte* from, std::byte* to) const {
        if (copy_) return copy_->run(from, to, 1, Stores::cached);
        const std::int64_t together = std::max<std::int64_t>(row_together / tile_.unit, 1);
        for (std::int64_t column = 0; column < tile_.ni; column += together) {
            Tile part = tile_;
            part.ni = std::min(together, tile_.ni - column);
            turn_strips(kernel_, from + column * tile_.unit, to + column * tile_.destination_i,
                        part);
        }
    }

  private:
    static constexpr std::int64_t row_together = 4096;  // bytes: their columns stay in cache
    Tile tile_;
    TileKernel kernel_;
    std::optional<Copy> copy_;
};

/// A run of blocks' places, as contiguous pieces: calls piece(offset of the places, blocks).
template <class Piece>
void for_rows(const Panels& panels, std::int64_t first, std::int64_t count, Piece&& piece) {
    const Places places = panels.places();
    if (!places.gaps()) return piece(first * places.block, count);
    while (count > 0) {
        const std::int64_t row = first / places.in_row, column = first % places.in_row;
        const std::int64_t now = std::min(places.in_row - column, count);
        piece(row * places.pitch + column * places.block, now);
        first += now;
        count -= now;
    }
}

/// Runs the panels of one pass. `read(panel, buffer)` takes a panel out of the array, permuted;
/// `write(panel, buffer)` puts it where it belongs. With a remainder, a panel may be written once
/// its neighbour on the side towards which they move has been read. Bands of panels go to threads,
/// from that side on; a band's first one waits in a second buffer until all bands have been read.
template <class Read, class Write>
void run_panels(const Panels& panels, bool upwards, int threads, Read&& read, Write&& write) {
    const std::int64_t count = panels.count(), bytes = panels.panel_bytes();
    if (panels.remainder() == 0) {
        base::parallel_for(threads, count, [&](std::int64_t panel) {
            std::byte* const buffer = thread_scratch(Scratch::panel, bytes);
            read(panel, buffer);
            write(panel, buffer);
        });
        return;
    }
    const std::int64_t bands = std::min<std::int64_t>(base::resolve_threads(threads), count);
    const auto panel_of = [&](std::int64_t k) { return upwards ? count - 1 - k : k; };
    const auto bound = [&](std::int64_t band) {
        return count / bands * band + count % bands * band / bands;
    };
    const auto run = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t k = first; k < last; ++k) {
            std::byte* const buffer = thread_scratch(Scratch::panel, bytes);
            read(panel_of(k), buffer);
            write(panel_of(k), buffer);
        }
    };
    if (bands == 1) return run(0, count);
    std::vector<std::unique_ptr<std::byte[]>> waiting;
    for (std::int64_t band = 0; band < bands; ++band)
        waiting.emplace_back(new std::byte[static_cast<std::size_t>(bytes)]);
    base::parallel_for(threads, bands, [&](std::int64_t band) {
        read(panel_of(bound(band)), waiting[static_cast<std::size_t>(band)].get());
        run(bound(band) + 1, bound(band + 1));
    });
    base::parallel_for(threads, bands, [&](std::int64_t band) {
        write(panel_of(bound(band)), waiting[static_cast<std::size_t>(band)].get());
    });
}

}  // namespace

Places Panels::places() const {
    const std::int64_t block = width * unit;
    return remainder() == 0 ? Places::dense(block) : Places{block, parts(), extent * unit};
}

std::int64_t Panels::memory(int threads) const {
    const std::int64_t buffers = remainder() == 0 || threads == 1 ? 1 : 2;
    return buffers * threads * (panel_bytes() + 4096);
}

void Panels::gather(std::byte* array, int threads) const {
    const StreamCopy write_back = select_write_back(panel_bytes());
    const Turn turn(width, inner, unit, inner * unit, width * unit);
    const std::int64_t item_bytes = extent * inner * unit, block = width * unit;
    run_panels(
        *this, true, threads,
        [&](std::int64_t panel, std::byte* buffer) {
            turn.run(array + panel / parts() * item_bytes + panel % parts() * panel_bytes(),
                     buffer);
        },
        [&](std::int64_t panel, const std::byte* buffer) {
            for_rows(*this, panel * inner, inner, [&](std::int64_t offset, std::int64_t blocks) {
                write_back(array + offset, buffer, blocks * block);
                buffer += blocks * block;
            });
            stream_fence();
        });
}

void Panels::scatter(std::byte* array, int threads) const {
    const StreamCopy write_back = select_write_back(panel_bytes());
    const std::int64_t item_bytes = extent * inner * unit, block = width * unit;
    run_panels(
        *this, false, threads,
        [&](std::int64_t panel, std::byte* buffer) {
            for_rows(*this, panel * inner, inner, [&](std::int64_t offset, std::int64_t blocks) {
                // (blocks, width) -> columns of (width, inner)
                Turn(blocks, width, unit, block, inner * unit).run(array + offset, buffer);
                buffer += blocks * unit;
            });
        },
        [&](std::int64_t panel, const std::byte* buffer) {
            write_back(array + panel / parts() * item_bytes + panel % parts() * panel_bytes(),
                       buffer, panel_bytes());
            stream_fence();
        });
}

void permute_slabs(std::byte* array, const Permutation& permutation, int threads) {
    const auto result = permutation.result();
    const auto from = dense_strides(permutation.extents, permutation.block);
    std::vector<std::int64_t> source;
    for (const std::size_t axis : permutation.axes) source.push_back(from[axis]);
    const Copy turn(result, permutation.block, source, dense_strides(result, permutation.block));
    const bool matrix = permutation.dimensions() == 2;
    const Turn turn_matrix(matrix ? permutation.extents[0] : 1, matrix ? permutation.extents[1] : 1,
                           permutation.block, from[0], permutation.extents[0] * permutation.block);
    // A single slab is shared out itself.
    const bool few = permutation.batch < base::resolve_threads(threads);
    base::parallel_for(few ? 1 : threads, permutation.batch, [&](std::int64_t item) {
        std::byte* const slab = array + item * turn.bytes();
        std::byte* const buffer = thread_scratch(Scratch::panel, turn.bytes());
        if (matrix && !few)
            turn_matrix.run(slab, buffer);
        else
            turn.run(slab, buffer, few ? threads : 1, Stores::cached);
        select_write_back(turn.bytes())(slab, buffer, turn.bytes());
        stream_fence();
    });
}

}  // namespace hocket::kernel
