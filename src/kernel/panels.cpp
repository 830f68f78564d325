// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/panels.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/checked.hpp"
#include "base/pool.hpp"
#include "hocket/kernel.hpp"
#include "kernel/costs.hpp"
#include "kernel/fetch.hpp"
#include "kernel/groups.hpp"
#include "kernel/ranges.hpp"
#include "kernel/scratch.hpp"
#include "kernel/stream.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {
namespace {

using base::ceil_div;
using Strides = std::array<std::int64_t, 2>;

/// The stores that write a panel back into the array. Past the caches only if these have lost its
/// lines: streaming a cached line takes twice as long.
StreamCopy select_write_back(std::int64_t bytes) {
    return bytes >= distances().past_panel ? select_stream_copy() : copy_cached;
}

/// The hardware prefetches longer rows by itself, several at a time.
bool fetches_row(std::int64_t row) {
    constexpr std::int64_t page = 4096;
    return row < page || distances().fetching == Fetching::first_level;
}

/// Whether to prefetch the next panel during the work on one: if the second-level cache holds both
/// and a buffer.
bool fetches_ahead(std::int64_t bytes, std::int64_t row) {
    return bytes <= least_streamed_bytes() / 8 && fetches_row(row);
}

/// Copies a buffer back into the array, while the next panel is prefetched.
void write_panel(StreamCopy store, std::byte* to, const std::byte* from, std::int64_t bytes,
                 Prefetcher& ahead) {
    constexpr std::int64_t between_looks = 512;
    if (store != copy_cached) {
        store(to, from, bytes);
        return ahead.worked(bytes);
    }
    for (std::int64_t at = 0; at < bytes; at += between_looks) {
        const std::int64_t now = std::min(between_looks, bytes - at);
        store(to + at, from + at, now);
        ahead.worked(now);
    }
}

/// (rows, columns) units to (columns, rows) in a buffer in cache.
class PanelTranspose {
  public:
    PanelTranspose(std::int64_t rows, std::int64_t columns, std::int64_t unit,
                   std::int64_t from_pitch, std::int64_t to_pitch)
        : tile_(transposed(rows, columns, unit, from_pitch, to_pitch)),
          kernel_(select_tile_kernel(tile_)) {
        // Rows of the buffer that would evict each other from the cache need a stage.
        if (unit > 64 || to_pitch % 4096 == 0)
            copy_.emplace(Strides{rows, columns}, unit, Strides{from_pitch, unit},
                          Strides{unit, to_pitch});
    }
    void run(const std::byte* from, std::byte* to, Prefetcher& ahead) const {
        if (copy_) {
            copy_->run(from, to, 1, Stores::cached);
            return ahead.worked(tile_.ni * tile_.nj * tile_.unit);
        }
        const std::int64_t together = std::max<std::int64_t>(distances().panel_row / tile_.unit, 1);
        for (std::int64_t column = 0; column < tile_.ni; column += together) {
            Tile part = tile_;
            part.ni = std::min(together, tile_.ni - column);
            const std::byte* const first = from + column * tile_.unit;
            Prefetcher next_strip = ahead.active() ? Prefetcher() : strip_after(first, part);
            transpose_strips(kernel_, first, to + column * tile_.destination_i, part,
                             ahead.active() ? &ahead : &next_strip);
        }
    }

  private:
    /// All strips of a part but the first, one after another. (Measured: a gain of 20 % for 200
    /// rows and more, a loss for 32.)
    Prefetcher strip_after(const std::byte* first, const Tile& part) const {
        const std::int64_t strip = rows_of_strip(tile_.unit);
        if (part.nj <= Panels::few_rows ||
            tile_.ni * tile_.nj * tile_.unit < distances().long_panel)
            return {};
        return {first + strip * part.source_j, part.nj - strip, part.source_j, part.ni * part.unit,
                part.ni * part.nj * part.unit};
    }

    Tile tile_;
    TileKernel kernel_;
    std::optional<Copy> copy_;
};

/// A run of blocks' positions, as contiguous pieces: calls piece(offset of the positions, blocks).
template <class Piece>
void for_rows(const Panels& panels, std::int64_t first, std::int64_t count, Piece&& piece) {
    const BlockPositions positions = panels.positions();
    if (!positions.gaps()) return piece(positions.at(first), count);
    while (count > 0) {
        const std::int64_t now = std::min(positions.in_row - first % positions.in_row, count);
        piece(positions.at(first), now);
        first += now;
        count -= now;
    }
}

/// Runs the panels of one pass. `read(panel, buffer, ahead)` copies a permuted panel out of the
/// array; `write(panel, buffer, ahead)` writes it to its position; both also prefetch the next one,
/// which begins at `place(panel)`. If panels are shifted, one may be written after its neighbour in
/// the direction of the shift has been read. Threads get bands of panels, from that side on. The
/// first panel of a band stays in a second buffer until all bands have been read.
template <class Place, class Read, class Write>
void run_panels(const Panels& panels, bool upwards, std::int64_t row, int threads, Place&& position,
                Read&& read, Write&& write) {
    const std::int64_t count = panels.count(), bytes = panels.panel_bytes();
    const bool fetched = fetches_ahead(bytes, row);
    const auto panel_of = [&](std::int64_t k) { return upwards ? count - 1 - k : k; };
    const auto run = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t k = first; k < last; ++k) {
            std::byte* const buffer = thread_scratch(Scratch::panel, bytes);
            Prefetcher ahead;
            if (k + 1 < last && fetched)
                ahead = Prefetcher(position(panel_of(k + 1)), bytes, 2 * bytes);
            read(panel_of(k), buffer, ahead);
            write(panel_of(k), buffer, ahead);
        }
    };
    if (!panels.shifted()) return in_ranges(threads, count, count * bytes, run, more_ranges);
    const std::int64_t bands = std::min<std::int64_t>(base::resolve_threads(threads), count);
    if (bands == 1) return run(0, count);
    const auto bound = [&](std::int64_t band) { return bound_of(count, bands, band); };
    std::vector<std::unique_ptr<std::byte[]>> waiting;
    for (std::int64_t band = 0; band < bands; ++band)
        waiting.emplace_back(new std::byte[static_cast<std::size_t>(bytes)]);
    base::parallel_for(threads, bands, [&](std::int64_t band) {
        Prefetcher none;
        read(panel_of(bound(band)), waiting[static_cast<std::size_t>(band)].get(), none);
        run(bound(band) + 1, bound(band + 1));
    });
    base::parallel_for(threads, bands, [&](std::int64_t band) {
        Prefetcher none;
        write(panel_of(bound(band)), waiting[static_cast<std::size_t>(band)].get(), none);
    });
}

/// Transposes each panel of a ring directly into the position of the one before it.
void run_rings(const Panels& panels, std::byte* array, std::int64_t in_ring, std::int64_t items,
               int threads, std::int64_t row, const PanelTranspose& transposition) {
    const std::int64_t bytes = panels.panel_bytes(), in_item = panels.count() / items;
    const std::int64_t rings = ceil_div(in_item, in_ring);
    const bool fetched = fetches_row(row);
    const auto run = [&](std::int64_t ring) {
        const std::int64_t begin = ring % rings * in_ring;
        const std::int64_t count = std::min(in_ring, in_item - begin);
        std::byte* const first = array + (ring / rings * in_item + begin) * bytes;
        std::byte* const buffer = thread_scratch(Scratch::panel, bytes);
        Prefetcher ahead;
        if (fetched) ahead = Prefetcher::along(first, count * bytes, distances().ring_ahead);
        for (std::int64_t k = 0; k < count; ++k) {
            std::byte* const panel = first + k * bytes;
            transposition.run(panel, k == 0 ? buffer : panel - bytes, ahead);
        }
        copy_cached(first + (count - 1) * bytes, buffer, bytes);
    };
    base::parallel_for(threads, items * rings, run, wake_for(panels.count() * bytes));
}

}  // namespace

BlockPositions Panels::positions() const {
    const std::int64_t block = width * unit;
    return remainder() == 0 ? BlockPositions::dense(block)
                            : BlockPositions{block, parts(), extent * unit};
}

std::int64_t Panels::memory(int threads) const {
    const std::int64_t buffers = !shifted() || threads == 1 ? 1 : 2;
    return buffers * threads * (panel_bytes() + 4096);
}

bool Panels::rings(bool gathering) const {
    const std::int64_t row = gathering ? width * unit : inner * unit;
    constexpr std::int64_t least_block = 512;  // the pass visits all positions of blocks, so there
                                               // should be few
    const bool transposed_in_registers = unit == 4 || unit == 8 || unit == 16;
    // Long rows of a scattered panel, which follow each other, share few lines. (Measured: a gain
    // with 720 bytes and more, a loss with 248.)
    const bool whole_lines =
        row % 64 == 0 || (row >= distances().ring_row && inner * unit >= 64) ||
        (!gathering && row >= least_block && distances().fetching == Fetching::first_level);
    // The last, this and the next panel share the second-level cache, unless the last level is near
    // (measured).
    const std::int64_t most = std::max(least_streamed_bytes() / 10, distances().ring_panel);
    return transposed_in_registers && !shifted() && width * unit >= least_block &&
           panel_bytes() <= most && whole_lines && row % 4096 != 0;
}

std::int64_t Panels::ring(bool gathering, std::int64_t items, int threads) const {
    constexpr std::int64_t least = 8;  // otherwise too many panels go through a buffer
    const std::int64_t most = base::resolve_threads(threads), in_item = count() / items;
    if (in_item < least || !rings(gathering)) return 0;
    if (most == 1) return in_item;
    // Several rings a thread, so that a thread that lost its core does not delay the others much;
    // but one at least.
    const std::int64_t several = std::max(least, ceil_div(in_item, ceil_div(8 * most, items)));
    const std::int64_t ring = std::min(several, ceil_div(in_item, ceil_div(most, items)));
    return ring > 1 ? ring : 0;
}

void Panels::gather(std::byte* array, int threads, std::int64_t in_ring, std::int64_t items) const {
    const StreamCopy write_back = select_write_back(panel_bytes());
    const std::int64_t row = inner * unit, block = width * unit;
    const PanelTranspose transposition(width, inner, unit, row, block);
    if (in_ring > 0) return run_rings(*this, array, in_ring, items, threads, row, transposition);
    const auto position = [&](std::int64_t panel) {
        return array + panel / parts() * extent * row + panel % parts() * panel_bytes();
    };
    run_panels(
        *this, true, row, threads, position,
        [&](std::int64_t panel, std::byte* buffer, Prefetcher& ahead) {
            transposition.run(position(panel), buffer, ahead);
        },
        [&](std::int64_t panel, const std::byte* buffer, Prefetcher& ahead) {
            for_rows(*this, panel * inner, inner, [&](std::int64_t offset, std::int64_t blocks) {
                write_panel(write_back, array + offset, buffer, blocks * block, ahead);
                buffer += blocks * block;
            });
            stream_fence();
        });
}

void Panels::scatter(std::byte* array, int threads, std::int64_t in_ring,
                     std::int64_t items) const {
    const StreamCopy write_back = select_write_back(panel_bytes());
    const std::int64_t item_bytes = extent * inner * unit, block = width * unit;
    if (in_ring > 0) {
        const PanelTranspose whole(inner, width, unit, block, inner * unit);
        return run_rings(*this, array, in_ring, items, threads, block, whole);
    }
    run_panels(
        *this, false, block, threads,
        [&](std::int64_t panel) {
            const BlockPositions blocks = positions();
            return array + blocks.at(panel * inner);
        },
        [&](std::int64_t panel, std::byte* buffer, Prefetcher& ahead) {
            for_rows(*this, panel * inner, inner, [&](std::int64_t offset, std::int64_t blocks) {
                // (blocks, width) -> columns of (width, inner)
                PanelTranspose(blocks, width, unit, block, inner * unit)
                    .run(array + offset, buffer, ahead);
                buffer += blocks * unit;
            });
        },
        [&](std::int64_t panel, const std::byte* buffer, Prefetcher& ahead) {
            std::byte* const to =
                array + panel / parts() * item_bytes + panel % parts() * panel_bytes();
            write_panel(write_back, to, buffer, panel_bytes(), ahead);
            stream_fence();
        });
}

void permute_slabs(std::byte* array, const Permutation& permutation, int threads) {
    const auto result = permutation.result();
    const auto from = dense_strides(permutation.extents, permutation.block);
    const std::int64_t bytes = permutation.blocks() * permutation.block, batch = permutation.batch;
    std::vector<std::int64_t> source;
    for (const std::size_t axis : permutation.axes) source.push_back(from[axis]);
    if (permutation.dimensions() > 2) {
        Groups slabs{.ordered = {result, source}, .run = bytes, .unit = permutation.block};
        slabs.all.add(batch, bytes);
        return slabs.permute(array, true, threads);
    }
    const Copy transposition(result, permutation.block, source,
                             dense_strides(result, permutation.block));
    const PanelTranspose turn_matrix(permutation.extents[0], permutation.extents[1],
                                     permutation.block, from[0],
                                     permutation.extents[0] * permutation.block);
    // The threads share each of a few slabs.
    const bool few = batch < base::resolve_threads(threads) && bytes >= least_shared_bytes;
    const bool ahead_pays =
        !few && fetches_ahead(bytes, permutation.extents[1] * permutation.block);
    const auto run = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t item = first; item < last; ++item) {
            std::byte* const slab = array + item * bytes;
            std::byte* const buffer = thread_scratch(Scratch::panel, bytes);
            Prefetcher ahead;
            if (item + 1 < last && ahead_pays) ahead = Prefetcher(slab + bytes, bytes, 2 * bytes);
            if (few)
                transposition.run(slab, buffer, threads, Stores::cached);
            else
                turn_matrix.run(slab, buffer, ahead);
            const auto write = [&](std::int64_t begin, std::int64_t end, Prefetcher& next) {
                write_panel(select_write_back(bytes), slab + begin, buffer + begin, end - begin,
                            next);
                stream_fence();
            };
            if (!few) {
                write(0, bytes, ahead);
                continue;
            }
            constexpr std::int64_t line = 64;
            in_ranges(threads, ceil_div(bytes, line), bytes,
                      [&](std::int64_t begin, std::int64_t end) {
                          Prefetcher none;
                          write(begin * line, std::min(end * line, bytes), none);
                      });
        }
    };
    in_ranges(few ? 1 : threads, batch, batch * bytes, run, more_ranges);
}

}  // namespace hocket::kernel
