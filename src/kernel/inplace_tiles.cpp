// SPDX-License-Identifier: BSD-3-Clause
// If the fastest dimensions of source and destination have a common divisor, short blocks become
// long ones without a buffer: the pass transposes each square tile of the two in place.
#include <functional>
#include <numeric>

#include "kernel/costs.hpp"
#include "kernel/inplace_steps.hpp"
#include "kernel/square.hpp"

namespace hocket::kernel {
namespace {

struct Tiling {
    const Permutation& permutation;
    std::int64_t side;

    std::size_t split() const { return permutation.axes.back(); }
    std::int64_t row() const { return side * permutation.block; }

    Squares squares() const {
        const auto at = permutation.extents.begin() + static_cast<std::ptrdiff_t>(split());
        const std::int64_t inner = std::accumulate(at + 1, permutation.extents.end(),
                                                   std::int64_t{1}, std::multiplies<>());
        return {.side = side,
                .unit = permutation.block,
                .pitch = inner * permutation.block,
                .outer = permutation.batch * permutation.blocks() / inner / side,
                .inner = inner / side,
                .inner_step = row()};
    }

    /// The remaining permutation: blocks of `side` along the destination's fastest dimension.
    /// Within a tile, the source's fastest dimension now runs along the tile's rows.
    Permutation of_blocks() const {
        const std::size_t last = permutation.dimensions() - 1;
        std::vector<std::int64_t> shape{permutation.batch}, axes{0};
        std::vector<std::int64_t> position(permutation.dimensions());
        for (std::size_t d = 0; d <= last; ++d) {
            position[d] = static_cast<std::int64_t>(shape.size());
            const bool cut = d == split() || d == last;
            shape.push_back(permutation.extents[d] / (cut ? side : 1));
            if (d == split()) shape.push_back(side);
        }
        for (const std::size_t axis : permutation.axes) {
            axes.push_back(position[axis]);
            if (axis == last) axes.push_back(position[split()] + 1);
        }
        return make_permutation(shape, axes, row());
    }

    /// Whether the tables of the array's pages do not stay in the caches.
    bool vast() const {
        return permutation.batch * permutation.blocks() * permutation.block >= least_vast;
    }
    double cost() const {
        const Permutation moved = of_blocks();
        const double far = vast() ? PassCosts::kept().vast_steps / static_cast<double>(row()) : 0.0;
        return squares().cost() +
               (moved.identity() ? 0.0 : scattered(moved.block, moved.dimensions()) + far);
    }
};

}  // namespace

std::optional<Step> tiles_step(const Permutation& permutation, const Resources& means) {
    // Longer blocks are no faster to move, unless each page needs an entry that has left the
    // caches.
    Tiling tiling{permutation, 0};
    const std::int64_t longest_row = tiling.vast() ? 32 << 10 : 16 << 10;
    const std::int64_t common =
        std::gcd(permutation.extents[permutation.axes.back()], permutation.extents.back());
    double least = 0;
    for (Tiling other{permutation, 2}; other.side <= common && other.row() <= longest_row;
         ++other.side) {
        if (common % other.side != 0) continue;
        const double cost = other.cost();
        if (tiling.side > 0 && cost >= least) continue;
        tiling.side = other.side;
        least = cost;
    }
    if (tiling.side == 0) return std::nullopt;
    const Squares squares = tiling.squares();
    const Permutation moved = tiling.of_blocks();
    const BlockPositions positions = BlockPositions::dense(moved.block);
    return Step{
        .what = "tiles of " + std::to_string(tiling.side) + " x " + std::to_string(tiling.side) +
                " blocks of " + size_text(permutation.block) +
                " turned where they lie, then cycles of " + size_text(tiling.row()) +
                " blocks: " + moved.text(),
        .cost = least,
        .memory = squares.memory(means.threads) +
                  move_cycles_memory(moved, positions, {.threads = means.threads, .schedule = {}}),
        .run = [squares, moved, positions](std::byte* array, const Pass& pass) {
            squares.transpose(array, pass.threads);
            move_cycles(array, moved, positions, pass);
        }};
}

}  // namespace hocket::kernel
