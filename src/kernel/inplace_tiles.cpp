// SPDX-License-Identifier: BSD-3-Clause
// If the fastest dimensions of source and destination have a common divisor, short blocks become
// long ones without a buffer: the pass transposes each square tile of the two in place. Without a
// few of their last indices, which wait in a buffer, any two dimensions have one; the blocks then
// move to rows of another length, before cycles move them.
#include <functional>
#include <numeric>
#include <vector>

#include "kernel/costs.hpp"
#include "kernel/inplace_steps.hpp"
#include "kernel/moved_rows.hpp"
#include "kernel/remainder.hpp"
#include "kernel/square.hpp"

namespace hocket::kernel {
namespace {

using Extents = std::vector<std::int64_t>;

struct Tiling {
    const Permutation& permutation;
    std::int64_t side;

    std::size_t split() const { return permutation.axes.back(); }
    std::size_t last() const { return permutation.dimensions() - 1; }
    std::int64_t row() const { return side * permutation.block; }
    std::int64_t rows() const { return permutation.extents[split()]; }
    std::int64_t columns() const { return permutation.extents.back(); }
    std::int64_t spare_rows() const { return rows() % side; }
    std::int64_t spare_columns() const { return columns() % side; }
    bool spares() const { return spare_rows() + spare_columns() > 0; }

    /// Without the spare rows and columns.
    Permutation trimmed() const {
        Permutation out = permutation;
        out.extents[split()] -= spare_rows();
        out.extents[last()] -= spare_columns();
        return out;
    }
    /// Everything within the rows of a tile: units of the source.
    std::int64_t inner() const {
        const auto at = permutation.extents.begin() + static_cast<std::ptrdiff_t>(split());
        return std::accumulate(at + 1, permutation.extents.end(), std::int64_t{1},
                               std::multiplies<>());
    }

    /// Spare columns separate the matrices that lie side by side.
    std::int64_t matrices() const { return spare_columns() == 0 ? 1 : inner() / columns(); }
    Squares squares() const {
        const std::int64_t in_matrix = spare_columns() == 0 ? inner() : columns() - spare_columns();
        return {.side = side,
                .unit = permutation.block,
                .pitch = inner() * permutation.block,
                .outer = permutation.batch * permutation.blocks() / (rows() * inner()) *
                         (rows() - spare_rows()) / side,
                .inner = in_matrix / side,
                .inner_step = row()};
    }

    /// The remaining permutation: blocks of `side` along the destination's fastest dimension.
    /// Within a tile, the source's fastest dimension now runs along the tile's rows.
    Permutation of_blocks() const {
        const Permutation of = trimmed();
        Extents shape{of.batch}, axes{0}, position(of.dimensions());
        for (std::size_t d = 0; d <= last(); ++d) {
            position[d] = std::ssize(shape);
            const bool cut = d == split() || d == last();
            shape.push_back(of.extents[d] / (cut ? side : 1));
            if (d == split()) shape.push_back(side);
        }
        for (const std::size_t axis : of.axes) {
            axes.push_back(position[axis]);
            if (axis == last()) axes.push_back(position[split()] + 1);
        }
        return make_permutation(shape, axes, row());
    }

    /// Whether blocks are evenly spaced within rows of the source and of the result, and none of
    /// them become longer ones.
    bool even() const {
        constexpr std::int64_t few = 2;
        if (rows() < few * side || columns() < few * side) return false;
        return (spare_rows() == 0 || split() == 0) &&
               (spare_columns() == 0 || spare_rows() == 0 || permutation.axes.front() == last());
    }
    BlockPositions before() const {
        if (spare_columns() == 0) return BlockPositions::dense(row());
        return {row(), columns() / side, columns() * permutation.block};
    }
    BlockPositions after() const {
        if (spare_rows() > 0) return {row(), rows() / side, rows() * permutation.block};
        if (spare_columns() == 0 || permutation.axes.front() == last())
            return BlockPositions::dense(row());
        // The columns' dimension is within others.
        const Extents n = permutation.result();
        std::int64_t within = 1;
        for (std::size_t k = n.size(); permutation.axes[--k] != last();) within *= n[k];
        return {row(), (columns() - spare_columns()) * within / side,
                columns() * within * permutation.block};
    }
    MovedRows moved() const {
        const Permutation kept = trimmed();
        return {before(), after(), kept.blocks() / side};
    }
    Remainder last_rows() const {
        return {permutation, split(), rows() - spare_rows(), spare_rows()};
    }
    Remainder last_columns() const {
        return {permutation, last(), columns() - spare_columns(), spare_columns()};
    }

    /// Whether the tables of the array's pages do not stay in the caches.
    bool vast() const {
        return permutation.batch * permutation.blocks() * permutation.block >= least_vast;
    }
    double cost_of_spares() const {
        const auto part = [&](std::int64_t spare, std::int64_t all) {
            return static_cast<double>(spare) / static_cast<double>(all);
        };
        const std::int64_t unit = permutation.block;
        // Blocks that move farther find neither side in a cache. (Fitted on a Zen 3.)
        const std::int64_t near = least_streamed_bytes() / 4;
        const double far = moved().distance() > near ? 0.4 : 0.0;
        // Each line of a spare column is read on its own, hence the terms of both sides.
        return PassCosts::kept().moved + far + 32.0 / static_cast<double>(row()) +
               128.0 / static_cast<double>(columns() * unit) +
               128.0 / static_cast<double>(rows() * unit) + 4.0 * part(spare_rows(), rows()) +
               4.0 * part(spare_columns(), columns());
    }
    double cost() const {
        const double far = vast() ? PassCosts::kept().vast_steps / static_cast<double>(row()) : 0.0;
        if (spares())
            return squares().cost() + cost_of_spares() +
                   scattered(row(), permutation.dimensions() + 1) + far;
        const Permutation moved = of_blocks();
        return squares().cost() +
               (moved.identity() ? 0.0 : scattered(moved.block, moved.dimensions()) + far);
    }
    std::int64_t memory(int threads) const {
        const Permutation kept = of_blocks();
        const std::int64_t tiles = squares().memory(threads);
        const Pass pass{.threads = threads, .schedule = {}};
        if (!spares())
            return tiles + move_cycles_memory(kept, BlockPositions::dense(kept.block), pass);
        return tiles + last_rows().bytes() + last_columns().bytes() + moved().memory(threads) +
               move_cycles_memory(kept, after(), pass);
    }
    void run(std::byte* array, const Pass& pass) const {
        const Permutation kept = of_blocks();
        std::vector<std::byte> of_rows(static_cast<std::size_t>(last_rows().bytes()));
        std::vector<std::byte> of_columns(static_cast<std::size_t>(last_columns().bytes()));
        if (spare_rows() > 0) last_rows().save(array, of_rows.data(), pass.threads);
        if (spare_columns() > 0) last_columns().save(array, of_columns.data(), pass.threads);
        for (std::int64_t k = 0; k < matrices(); ++k)
            squares().transpose(array + k * columns() * permutation.block, pass.threads);
        if (spares()) moved().run(array, pass.threads);
        move_cycles(array, kept, spares() ? after() : BlockPositions::dense(kept.block), pass);
        if (spare_rows() > 0) last_rows().restore(array, of_rows.data(), pass.threads);
        if (spare_columns() > 0) last_columns().restore(array, of_columns.data(), pass.threads);
    }
    std::string text() const {
        const std::string spare = std::to_string(spare_rows()) + " of " + std::to_string(rows()) +
                                  " rows and " + std::to_string(spare_columns()) + " of " +
                                  std::to_string(columns()) + " columns through a buffer";
        return "tiles of " + std::to_string(side) + " x " + std::to_string(side) + " blocks of " +
               size_text(permutation.block) + " turned where they lie" +
               (spares() ? " and moved to rows of another length" : "") + ", then cycles of " +
               size_text(row()) + " blocks: " + of_blocks().text() + (spares() ? "; " + spare : "");
    }
    Step step(const Resources& means) const {
        return {.what = text(),
                .cost = cost(),
                .memory = memory(means.threads),
                .run = [whole = permutation, side = side](std::byte* array, const Pass& pass) {
                    Tiling{whole, side}.run(array, pass);
                }};
    }
};

/// Longer blocks are no faster to move, unless each page needs an entry that has left the caches.
std::int64_t longest_row(const Tiling& tiling) {
    return tiling.vast() ? 32 << 10 : 16 << 10;
}

}  // namespace

std::optional<Step> tiles_step(const Permutation& permutation, const Resources& means) {
    const std::int64_t common =
        std::gcd(permutation.extents[permutation.axes.back()], permutation.extents.back());
    std::int64_t cheapest = 0;
    double least = 0;
    for (Tiling tiling{permutation, 2};
         tiling.side <= common && tiling.row() <= longest_row(tiling); ++tiling.side) {
        if (common % tiling.side != 0) continue;
        const double cost = tiling.cost();
        if (cheapest > 0 && cost >= least) continue;
        cheapest = tiling.side;
        least = cost;
    }
    if (cheapest == 0) return std::nullopt;
    return Tiling{permutation, cheapest}.step(means);
}

std::optional<Step> trimmed_step(const Permutation& permutation, const Resources& means) {
    constexpr std::int64_t least_item = 1 << 20;  // each goes through all passes on its own
    Permutation item = permutation;
    item.batch = 1;
    const std::int64_t bytes = item.blocks() * item.block;
    if (permutation.batch > 1 && bytes < least_item) return std::nullopt;
    std::int64_t cheapest = 0;
    double least = 0;
    for (Tiling tiling{item, 2};
         tiling.side <= tiling.columns() && tiling.row() <= longest_row(tiling); ++tiling.side) {
        if (!tiling.spares() || !tiling.even()) continue;
        if (tiling.last_rows().bytes() + tiling.last_columns().bytes() > means.memory) continue;
        const double cost = tiling.cost();
        if ((cheapest > 0 && cost >= least) || tiling.memory(means.threads) > means.memory)
            continue;
        cheapest = tiling.side;
        least = cost;
    }
    if (cheapest == 0) return std::nullopt;
    Step step = Tiling{item, cheapest}.step(means);
    step.what =
        (permutation.batch > 1 ? std::to_string(permutation.batch) + " x " : "") + step.what;
    step.run = [item, side = cheapest, bytes, batch = permutation.batch](std::byte* array,
                                                                         const Pass& pass) {
        for (std::int64_t k = 0; k < batch; ++k) Tiling{item, side}.run(array + k * bytes, pass);
    };
    return step;
}

}  // namespace hocket::kernel
