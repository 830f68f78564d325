// SPDX-License-Identifier: BSD-3-Clause
// Tensors in two passes. Tiles make blocks, and cycles move these; or cycles come first, and tiles
// take the blocks apart. The rows of a tile run over the destination's fastest dimension, or over
// several of the fastest ones, and its columns over all dimensions within these, taken together: a
// tile may begin and end anywhere in either, and the cycles account for that.
#include <algorithm>
#include <numeric>

#include "kernel/costs.hpp"
#include "kernel/inplace_steps.hpp"
#include "kernel/ringed_tiles.hpp"

namespace hocket::kernel {
namespace {

using Extents = std::vector<std::int64_t>;

/// The dimensions of a tile, for a permutation or, to take blocks apart, for its inverse.
struct Ringed {
    Permutation permutation;  // whose fastest dimensions in the destination are the tile's rows
    bool gather_first;
    std::size_t joined;  // the number of these
    std::int64_t side = 0;

    Ringed(const Permutation& what, bool gathers, std::size_t of_rows)
        : permutation(gathers ? what : inverse(what)), gather_first(gathers), joined(of_rows) {}

    bool of_row(std::size_t dimension) const {
        const auto& axes = permutation.axes;
        return std::find(axes.end() - static_cast<std::ptrdiff_t>(joined), axes.end(), dimension) !=
               axes.end();
    }
    /// The last dimension of rows; those within it are columns.
    std::size_t last() const {
        const auto& axes = permutation.axes;
        return *std::max_element(axes.end() - static_cast<std::ptrdiff_t>(joined), axes.end());
    }
    std::int64_t extent() const {
        std::int64_t product = 1;
        for (std::size_t d = 0; d < permutation.dimensions(); ++d)
            if (of_row(d)) product *= permutation.extents[d];
        return product;
    }
    std::int64_t columns() const {
        return std::accumulate(
            permutation.extents.begin() + static_cast<std::ptrdiff_t>(last()) + 1,
            permutation.extents.end(), std::int64_t{1}, std::multiplies<>());
    }
    RowOrder order() const {
        RowOrder out;
        if (joined == 1) return out;
        for (std::size_t d = 0; d <= last(); ++d) {
            out.extents.push_back(permutation.extents[d]);
            if (!of_row(d)) out.axes.push_back(d);
        }
        out.axes.insert(out.axes.end(),
                        permutation.axes.end() - static_cast<std::ptrdiff_t>(joined),
                        permutation.axes.end());
        return out;
    }
    RingedTiles tiles() const {
        return {.rows = permutation.batch * permutation.blocks() / columns(),
                .columns = columns(),
                .unit = permutation.block,
                .side = side,
                .packed = columns() % side != 0,
                .gathers = gather_first,
                .order = order()};
    }
    bool possible() const {
        if (extent() % side != 0 || columns() < side) return false;
        const RingedTiles all = tiles();
        // Their order is in a table.
        return (joined == 1 || all.ring(1).table_rows(permutation.blocks() / side) > 0) &&
               all.possible();
    }
    /// Blocks in the order of bands and of whole dimensions within them; the ring translates that
    /// to their places. Without normal form, which would fuse dimensions across the bands.
    Permutation of_blocks() const {
        const std::size_t dimensions = permutation.dimensions(), none = dimensions;
        std::vector<std::size_t> kept, place(dimensions, none);  // the rows' dimensions: `none`
        for (std::size_t d = 0; d < dimensions; ++d) {
            if (!of_row(d)) kept.push_back(d);
            if (d == last()) kept.push_back(none);
        }
        Permutation out = permutation;
        out.extents.clear();
        out.axes.clear();
        std::size_t rows = 0;
        for (std::size_t k = 0; k < kept.size(); ++k) {
            (kept[k] == none ? rows : place[kept[k]]) = k;
            out.extents.push_back(kept[k] == none ? extent() / side : permutation.extents[kept[k]]);
        }
        for (const std::size_t axis : permutation.axes)
            if (!of_row(axis)) out.axes.push_back(place[axis]);
        out.axes.push_back(rows);
        out.block *= side;
        return gather_first ? out : inverse(out);
    }
    double cost() const {
        const RingedTiles all = tiles();
        const auto bytes = static_cast<double>(all.block());
        // Each step of the cycles takes longer: it translates a position, too.
        const PassCosts& costs = PassCosts::kept();
        return tiled(all.block()) + costs.ring_start / static_cast<double>(all.across()) +
               costs.ring_waiting * std::min(1.0, all.waiting()) +
               costs.ring_crowded * all.crowded() +
               (all.parts_of_lines() ? costs.ring_parts / bytes : 0.0) +
               scattered(all.block(), permutation.dimensions()) + costs.ring_steps / bytes;
    }
    std::int64_t memory(int threads) const {
        return tiles().memory(threads) +
               move_cycles_memory(of_blocks(), BlockPositions::dense(tiles().block()),
                                  {.threads = threads, .schedule = {}}, tiles().ring(threads));
    }
    std::string text() const {
        const RingedTiles all = tiles();
        const std::string parts =
            "tiles of " + std::to_string(side) + " x " + std::to_string(side) + " blocks of " +
            size_text(permutation.block) +
            (joined > 1 ? ", rows over " + std::to_string(joined) + " dimensions," : "") +
            " turned in rings" +
            (all.packed ? ", with " + std::to_string(all.spare()) + " of " +
                              std::to_string(all.columns) + " columns beyond them"
                        : "");
        const std::string cycles =
            "cycles of " + size_text(all.block()) + " blocks: " + of_blocks().text();
        return gather_first ? parts + ", then " + cycles : cycles + ", then " + parts;
    }
};

}  // namespace

std::optional<Step> ringed_step(const Permutation& permutation, const Resources& means) {
    const std::int64_t unit = permutation.block;
    const bool transposed_in_registers = unit == 4 || unit == 8 || unit == 16;
    if (!transposed_in_registers || permutation.identity()) return std::nullopt;
    constexpr std::int64_t shortest_block = 128, longest_everywhere = 1024;
    const CostCurve& measured = PassCosts::kept().tiled;
    if (measured.empty()) return std::nullopt;
    const std::int64_t longest_block = std::max(longest_everywhere, measured.back().first);
    std::optional<Ringed> best;
    for (const bool gather_first : {true, false})
        for (std::size_t joined = 1; joined < permutation.dimensions(); ++joined) {
            Ringed ringed(permutation, gather_first, joined);
            const std::int64_t most = std::min(longest_block / unit, ringed.columns());
            for (ringed.side = shortest_block / unit; ringed.side <= most; ++ringed.side) {
                if (!ringed.possible() || (best && ringed.cost() >= best->cost())) continue;
                if (ringed.memory(means.threads) <= means.memory) best.emplace(ringed);
            }
        }
    if (!best) return std::nullopt;
    return Step{
        .what = best->text(),
        .cost = best->cost(),
        .memory = best->memory(means.threads),
        .run = [tiles = best->tiles(), moved = best->of_blocks(),
                ring = best->tiles().ring(means.threads)](std::byte* array, const Pass& pass) {
            const BlockPositions positions = BlockPositions::dense(tiles.block());
            if (ring.first) tiles.transpose(array, ring, pass.threads);
            move_cycles(array, moved, positions, pass, ring);
            if (!ring.first) tiles.transpose(array, ring, pass.threads);
        }};
}

}  // namespace hocket::kernel
