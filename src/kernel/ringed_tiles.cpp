// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/ringed_tiles.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/pool.hpp"
#include "kernel/fetch.hpp"
#include "kernel/scratch.hpp"
#include "kernel/stream.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {

using base::ceil_div;

bool RingedTiles::possible() const {
    // Rows that are a multiple of a large power of two apart share few sets of the cache. (Another
    // buffer for each tile, as for pairs of them, costs more than the cycles gain.)
    constexpr std::int64_t tiles = 2;
    const std::int64_t apart = std::max(std::gcd(pitch(), near_method), tiles * block());
    return bands() > 0 && across() > 0 && side * apart <= near_methods * near_method;
}

/// Several rings a thread, so that a thread that lost its core does not delay the others much.
std::int64_t RingedTiles::in_ring(int threads) const {
    constexpr std::int64_t least = 8;  // otherwise too many tiles go through a buffer
    if (threads == 1) return across();
    const std::int64_t rings = ceil_div(std::int64_t{8} * threads, bands());
    return std::min(std::max(least, ceil_div(across(), rings)), across());
}

std::int64_t RingedTiles::memory(int threads) const {
    return threads * (side * buffer_pitch(side, unit) + 4096);
}

void RingedTiles::turn_ring(std::byte* first, std::int64_t tiles) const {
    const std::int64_t apart = buffer_pitch(side, unit), step = block();
    const Tile to_buffer = transposed(side, side, unit, pitch(), apart);
    const Tile in_place = transposed(side, side, unit, pitch(), pitch());
    const TileKernel turn_first = select_tile_kernel(to_buffer);
    const TileKernel turn_next = select_tile_kernel(in_place);
    std::byte* const buffer = thread_scratch(Scratch::panel, side * apart);
    std::byte* const last = first + (tiles - 1) * step;
    for (std::byte* tile = first; tile <= last; tile += step) {
        Prefetcher ahead;
        if (tile < last) ahead = Prefetcher(tile + step, side, pitch(), step, side * step);
        if (tile == first)
            transpose_strips(turn_first, tile, buffer, to_buffer, &ahead);
        else
            transpose_strips(turn_next, tile, tile - step, in_place, &ahead);
    }
    for (std::int64_t row = 0; row < side; ++row)
        copy_cached(last + row * pitch(), buffer + row * apart, step);
}

void RingedTiles::turn(std::byte* array, const Ring& ring, int threads) const {
    const std::int64_t most = ring.in_ring, rings = ceil_div(across(), most);
    base::parallel_for(threads, bands() * rings, [&](std::int64_t k) {
        const std::int64_t first = k % rings * most;
        turn_ring(array + k / rings * side * pitch() + first * block(),
                  std::min(most, across() - first));
    });
}

}  // namespace hocket::kernel
