// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/timed_passes.hpp"

#include <array>
#include <cstddef>

#include "kernel/move_cycles.hpp"
#include "kernel/panels.hpp"
#include "kernel/ringed_tiles.hpp"

namespace hocket::kernel {
namespace {

std::int64_t rows_of(std::int64_t columns, std::int64_t side) {
    return array_bytes / (columns * timed_unit) / side * side;
}

}  // namespace

TimedPass panels_of(std::int64_t width, std::int64_t bytes, Rings rings) {
    const std::int64_t inner = bytes / (width * timed_unit);
    Panels panels{.outer = 1, .extent = width, .width = width, .inner = inner, .unit = timed_unit};
    panels.extent = array_bytes / panels.panel_bytes() * width;
    const std::int64_t in_ring = rings == Rings::all       ? panels.count()
                                 : rings == Rings::allowed ? panels.ring(true, 1, 1)
                                                           : 0;
    return {panels.count() * panels.panel_bytes(),
            [=](std::byte* array) { panels.gather(array, 1, in_ring); }};
}

TimedPass slabs_of(std::vector<std::int64_t> shape) {
    std::int64_t slab = timed_unit;
    std::vector<std::int64_t> axes{0};
    for (std::int64_t d = std::ssize(shape); d > 0; --d) {
        slab *= shape[static_cast<std::size_t>(d - 1)];
        axes.push_back(d);
    }
    shape.insert(shape.begin(), array_bytes / slab);
    return {shape[0] * slab, [reversed = make_permutation(shape, axes, timed_unit)](
                                 std::byte* array) { permute_slabs(array, reversed, 1); }};
}

TimedPass tiles_of(std::int64_t side, std::int64_t columns) {
    const RingedTiles tiles{
        .rows = rows_of(columns, side), .columns = columns, .unit = timed_unit, .side = side};
    return {tiles.rows * columns * timed_unit,
            [=](std::byte* array) { tiles.transpose(array, tiles.ring(1), 1); }};
}

TimedPass steps_of(std::int64_t side, std::int64_t columns, bool rings) {
    const RingedTiles tiles{
        .rows = rows_of(columns, side), .columns = columns, .unit = timed_unit, .side = side};
    const std::array<std::int64_t, 3> shape{tiles.bands(), side, tiles.across()}, axes{2, 1, 0};
    const Permutation moved = make_permutation(shape, axes, tiles.block());
    return {tiles.rows * columns * timed_unit, [=](std::byte* array) {
                move_cycles(array, moved, BlockPositions::dense(tiles.block()),
                            {.threads = 1, .schedule = {}}, rings ? tiles.ring(1) : Ring{});
            }};
}

}  // namespace hocket::kernel
