// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/inplace_steps.hpp"

#include <algorithm>
#include <numeric>

#include "hocket/kernel.hpp"
#include "kernel/costs.hpp"
#include "kernel/remainder.hpp"
#include "kernel/square.hpp"

namespace hocket::kernel {
namespace {

using Extents = std::vector<std::int64_t>;

std::int64_t product(Extents::const_iterator first, Extents::const_iterator last) {
    return std::accumulate(first, last, std::int64_t{1}, std::multiplies<>());
}

/// The position of a dimension, and the dimensions within it: in source order, or in destination
/// order.
struct Position {
    std::int64_t outer, extent, inner;
};

Position destination_fastest_in_source(const Permutation& permutation) {
    const auto at = static_cast<std::ptrdiff_t>(permutation.axes.back());
    const Extents& n = permutation.extents;
    return {product(n.begin(), n.begin() + at), n[permutation.axes.back()],
            product(n.begin() + at + 1, n.end())};
}

Position source_fastest_in_destination(const Permutation& permutation) {
    const Extents n = permutation.result();
    const auto at =
        std::find(permutation.axes.begin(), permutation.axes.end(), permutation.dimensions() - 1) -
        permutation.axes.begin();
    return {product(n.begin(), n.begin() + at), permutation.extents.back(),
            product(n.begin() + at + 1, n.end())};
}

}  // namespace

Step cycles_step(const Permutation& permutation, const Resources& means, bool whole_table) {
    const BlockPositions positions = BlockPositions::dense(permutation.block);
    Pass pass{.threads = means.threads, .schedule = {}, .whole_table = whole_table};
    return {.what = "cycles of " + size_text(permutation.block) + " blocks: " + permutation.text(),
            .cost = scattered(permutation.block, permutation.dimensions(), fits_cache(permutation)),
            .memory = move_cycles_memory(permutation, positions, pass),
            .run = [permutation, positions, whole_table](std::byte* array, const Pass& how) {
                Pass mine = how;
                mine.whole_table = whole_table;
                move_cycles(array, permutation, positions, mine);
            }};
}

Step slab_step(const Permutation& permutation, const Resources& means) {
    const std::int64_t bytes = permutation.blocks() * permutation.block;
    const std::int64_t busy = std::min<std::int64_t>(means.threads, permutation.batch);
    return {.what = "slabs of " + size_text(bytes) + " through a buffer each: " +
                    permutation.text() + " blocks of " + size_text(permutation.block),
            .cost = fits_cache(permutation) ? 2.0 + 4.0 / static_cast<double>(permutation.block)
                                            : slabs(bytes, permutation.extents, permutation.block),
            .memory = busy * (bytes + 4096) + means.threads * (std::int64_t{256} << 10),
            .run = [permutation](std::byte* array, const Pass& pass) {
                permute_slabs(array, permutation, pass.threads);
            }};
}

std::optional<Step> square_step(const Permutation& permutation, const Resources& means) {
    const Extents& n = permutation.extents;
    const std::size_t rank = n.size();
    const bool reversal = rank == 2 || (rank == 3 && permutation.axes[1] == 1);
    if (!reversal || n.front() != n.back() || permutation.block > 1024) return std::nullopt;
    const std::int64_t middle = rank == 3 ? n[1] : 1;
    const Squares squares{.side = n[0],
                          .unit = permutation.block,
                          .pitch = middle * n[0] * permutation.block,
                          .outer = permutation.batch,
                          .inner = middle,
                          .inner_step = n[0] * permutation.block};
    return Step{.what = "squares of " + std::to_string(n[0]) + " x " + std::to_string(n[0]) +
                        " blocks of " + size_text(permutation.block) +
                        ": pairs of tiles change places",
                .cost = squares.cost(),
                .memory = squares.memory(means.threads),
                .run = [squares](std::byte* array, const Pass& pass) {
                    squares.transpose(array, pass.threads);
                }};
}

Split::Split(const Permutation& what, bool first) : permutation(what), gather_first(first) {
    const Position at = gather_first ? destination_fastest_in_source(permutation)
                                     : source_fastest_in_destination(permutation);
    panels = {.outer = permutation.batch * at.outer,
              .extent = at.extent,
              .width = 1,
              .inner = at.inner,
              .unit = permutation.block};
}

std::size_t Split::dimension() const {
    return gather_first ? permutation.axes.back() : permutation.dimensions() - 1;
}

/// The extent becomes the number of parts. No dimensions fuse then, because there are at least two
/// parts.
Permutation Split::of_blocks() const {
    Permutation out = permutation;
    out.extents[dimension()] = panels.parts();
    out.block = panels.width * panels.unit;
    return out;
}

Ring Split::ring(int threads) const {
    const std::int64_t in_ring = panels.ring(gather_first, permutation.batch, threads);
    if (in_ring == 0) return {};
    return {.step = panels.inner, .in_ring = in_ring * panels.inner, .first = gather_first};
}

double Split::cost() const {
    const std::int64_t block = panels.width * panels.unit, row = panels.extent * panels.unit;
    // Gaps shift blocks of whole cache lines against these.
    const bool shifted = block % 64 == 0 && panels.remainder() != 0 && row % 64 != 0;
    const double rest = panels.remainder() == 0 ? 0.0 : 0.05 + 128.0 / static_cast<double>(row);
    const std::int64_t bytes = panels.panel_bytes();
    const bool rings = panels.ring(gather_first, permutation.batch, 1) > 0;
    const PassCosts& costs = PassCosts::kept();
    // Units of whole lines are read as such.
    const bool many_rows = gather_first ? panels.unit < 64 && panels.width > Panels::few_rows
                                        : panels.inner > Panels::few_rows;
    const double wide = many_rows && bytes >= costs.distances.long_panel ? costs.wide_panel : 0.0;
    return (rings ? ringed(bytes) : buffered(bytes) + wide) +
           scattered(block, permutation.dimensions()) + rest +
           (shifted ? 32.0 / static_cast<double>(block) : 0.0);
}

std::int64_t Split::memory(const Resources& means) const {
    const std::int64_t rest = panels.outer * panels.remainder() * panels.inner * panels.unit;
    return panels.memory(means.threads) + rest +
           move_cycles_memory(of_blocks(), panels.positions(),
                              {.threads = means.threads, .schedule = {}}, ring(means.threads));
}

Step Split::step(const Resources& means) const {
    const std::int64_t rest = panels.remainder();
    const Permutation moved = of_blocks();
    const std::string parts = "panels of " + size_text(panels.panel_bytes()) + " " +
                              (gather_first ? "make blocks of " : "take apart blocks of ") +
                              size_text(moved.block);
    const std::string cycles = "cycles of them: " + moved.text();
    return {.what = (gather_first ? parts + ", then " + cycles : cycles + ", then " + parts) +
                    (rest == 0 ? ""
                               : "; " + std::to_string(rest) + " of " +
                                     std::to_string(panels.extent) + " through a buffer"),
            .cost = cost(),
            .memory = memory(means),
            .run = [whole = permutation, moved, panels = panels, split = dimension(), rest,
                    gather = gather_first,
                    ring = ring(means.threads)](std::byte* array, const Pass& pass) {
                const std::int64_t in_ring = ring.in_ring / panels.inner, items = whole.batch;
                const Remainder remainder{whole, split, panels.extent - rest, rest};
                std::vector<std::byte> buffer(static_cast<std::size_t>(remainder.bytes()));
                remainder.save(array, buffer.data(), pass.threads);
                if (gather) panels.gather(array, pass.threads, in_ring, items);
                move_cycles(array, moved, panels.positions(), pass, ring);
                if (!gather) panels.scatter(array, pass.threads, in_ring, items);
                remainder.restore(array, buffer.data(), pass.threads);
            }};
}

Sequence reduce(const Permutation& permutation, bool gather_first) {
    const Position at = gather_first ? destination_fastest_in_source(permutation)
                                     : source_fastest_in_destination(permutation);
    const Permutation transposition{
        .batch = permutation.batch * at.outer,
        .extents = gather_first ? Extents{at.extent, at.inner} : Extents{at.inner, at.extent},
        .axes = {1, 0},
        .block = permutation.block};
    // The remaining permutation, with the dimension in the block, in normal form again.
    const std::size_t gone = gather_first ? permutation.axes.back() : permutation.dimensions() - 1;
    Extents shape{permutation.batch}, axes{0};
    for (std::size_t d = 0; d < permutation.dimensions(); ++d)
        if (d != gone) shape.push_back(permutation.extents[d]);
    for (const std::size_t axis : permutation.axes)
        if (axis != gone) axes.push_back(static_cast<std::int64_t>(axis - (axis > gone)) + 1);
    Permutation rest = make_permutation(shape, axes, permutation.block * at.extent);
    return gather_first ? Sequence{transposition, std::move(rest)}
                        : Sequence{std::move(rest), transposition};
}

Sequence order_rows(const Permutation& permutation, std::size_t columns) {
    const Extents& n = permutation.extents;
    Extents shape{permutation.batch}, axes{0}, ordered{permutation.batch}, then{0};
    for (std::size_t d = 0; d < columns; ++d) shape.push_back(n[d]);
    Extents place(n.size());  // in the source of the second permutation
    for (const std::size_t axis : permutation.axes) {
        if (axis >= columns) continue;
        place[axis] = std::ssize(ordered);
        axes.push_back(static_cast<std::int64_t>(axis) + 1);
        ordered.push_back(n[axis]);
    }
    std::int64_t row = permutation.block;
    for (std::size_t d = columns; d < n.size(); ++d) {
        place[d] = std::ssize(ordered);
        ordered.push_back(n[d]);
        row *= n[d];
    }
    for (const std::size_t axis : permutation.axes) then.push_back(place[axis]);
    return {make_permutation(shape, axes, row), make_permutation(ordered, then, permutation.block)};
}

}  // namespace hocket::kernel
