// SPDX-License-Identifier: BSD-3-Clause
// Tensors in two passes. Tiles of the destination's fastest dimension and of all dimensions within
// it, taken together, make blocks, and cycles move these; or cycles come first, and tiles of the
// source's fastest dimension take the blocks apart. A tile may begin and end anywhere in the
// dimensions taken together: the cycles account for that.
#include <algorithm>

#include "kernel/costs.hpp"
#include "kernel/inplace_steps.hpp"
#include "kernel/ringed_tiles.hpp"

namespace hocket::kernel {
namespace {

struct Ringed {
    const Permutation& permutation;
    Split split;  // the divided dimension, and those within it
    std::int64_t side;

    Ringed(const Permutation& what, bool gather_first, std::int64_t of_side)
        : permutation(what), split(what, gather_first), side(of_side) {}

    RingedTiles tiles() const {
        return {split.panels.outer * split.panels.extent, split.panels.inner, permutation.block,
                side};
    }
    bool possible() const {
        return split.panels.extent % side == 0 && split.panels.inner % side == 0 &&
               tiles().possible();
    }
    /// Blocks in the order of whole dimensions; the ring translates that to their places. Without
    /// normal form, which would fuse dimensions across the bands.
    Permutation of_blocks() const {
        Permutation out = permutation;
        out.extents[split.dimension()] /= side;
        out.block *= side;
        return out;
    }
    double cost() const {
        return shifted(tiles().block()) + scattered(tiles().block(), permutation.dimensions());
    }
    std::int64_t memory(int threads) const {
        return tiles().memory(threads) +
               move_cycles_memory(of_blocks(), BlockPositions::dense(tiles().block()),
                                  {.threads = threads, .schedule = {}},
                                  tiles().ring(split.gather_first, threads));
    }
    std::string text() const {
        const std::string parts = "tiles of " + std::to_string(side) + " x " +
                                  std::to_string(side) + " blocks of " +
                                  size_text(permutation.block) + " turned in rings";
        const std::string cycles =
            "cycles of " + size_text(tiles().block()) + " blocks: " + of_blocks().text();
        return split.gather_first ? parts + ", then " + cycles : cycles + ", then " + parts;
    }
};

}  // namespace

std::optional<Step> ringed_step(const Permutation& permutation, const Resources& means) {
    const std::int64_t unit = permutation.block;
    const bool transposed_in_registers = unit == 4 || unit == 8 || unit == 16;
    if (!transposed_in_registers || permutation.identity()) return std::nullopt;
    constexpr std::int64_t shortest_block = 128, longest_block = 1024;
    std::optional<Ringed> best;
    for (const bool gather_first : {true, false})
        for (std::int64_t side = shortest_block / unit; side * unit <= longest_block; ++side) {
            const Ringed ringed(permutation, gather_first, side);
            if (!ringed.possible() || (best && ringed.cost() >= best->cost())) continue;
            if (ringed.memory(means.threads) <= means.memory) best.emplace(ringed);
        }
    if (!best) return std::nullopt;
    return Step{.what = best->text(),
                .cost = best->cost(),
                .memory = best->memory(means.threads),
                .run = [tiles = best->tiles(), moved = best->of_blocks(),
                        ring = best->tiles().ring(best->split.gather_first, means.threads)](
                           std::byte* array, const Pass& pass) {
                    const BlockPositions positions = BlockPositions::dense(tiles.block());
                    if (ring.first) tiles.turn(array, ring, pass.threads);
                    move_cycles(array, moved, positions, pass, ring);
                    if (!ring.first) tiles.turn(array, ring, pass.threads);
                }};
}

}  // namespace hocket::kernel
