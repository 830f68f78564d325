// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/nested_tiles.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/checked.hpp"
#include "kernel/cpu.hpp"
#include "kernel/narrow_tiles.hpp"
#include "kernel/tile_vectors.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {
namespace {

using base::ceil_div;

void copy_tiles(std::span<const Loop> outer, const Tile& tile, const NestedKernels& kernels,
                const std::byte* source, std::byte* destination) {
    if (outer.empty()) {
        if (kernels.one) return kernels.one(source, destination, tile);
        return kernels.repeated(source, destination, tile, {1, 0, 0});
    }
    const Loop& loop = outer.front();
    if (outer.size() == 1 && kernels.repeated)
        return kernels.repeated(source, destination, tile, loop);
    for (std::int64_t k = 0; k < loop.extent; ++k)
        copy_tiles(outer.subspan(1), tile, kernels, source + k * loop.source,
                   destination + k * loop.destination);
}

}  // namespace

bool nesting_pays(std::span<const Loop> loops, std::int64_t unit) {
    constexpr std::int64_t most_rows = 256, page = 4096;
    if (loops.size() < 3) return false;
    const Tile tile = tile_of_loops(loops, unit);
    const std::int64_t in_sets = std::gcd(tile.destination_i, page) * tile.ni / page;
    if (tile.ni > most_rows || in_sets > near_methods()) return false;
    if (select_narrow_kernel(tile)) return true;
    if (tile.source_i != unit || tile.destination_j != unit) return false;
    if (!select_vector_kernels(unit, cpu_level()).repeated) return false;
    // Squares at the rims overlap others.
    const std::int64_t vector =
        cpu_level() == CpuLevel::portable ? 16 : std::min<std::int64_t>(32, 16 * unit);
    const std::int64_t side = vector / unit;
    if (std::min(tile.ni, tile.nj) < side) return false;
    const std::int64_t squares = ceil_div(tile.ni, side) * ceil_div(tile.nj, side);
    return 2 * squares * side * side <= 3 * tile.ni * tile.nj;
}

NestedKernels select_nested_kernels(std::span<const Loop> loops, std::int64_t unit) {
    const Tile tile = tile_of_loops(loops, unit);
    if (const TileKernel narrow = select_narrow_kernel(tile)) return {.one = narrow};
    // Those of AVX-512 are faster on tiles that fill its registers.
    const bool wide = cpu_level() == CpuLevel::avx512 && std::min(tile.ni, tile.nj) * unit >= 64;
    if (tile.source_i == unit && tile.destination_j == unit && !wide)
        if (const auto repeated = select_vector_kernels(unit, cpu_level()).repeated)
            return {.repeated = repeated};
    return {.one = select_tile_kernel(tile)};
}

void copy_nested_tiles(std::span<const Loop> loops, std::int64_t unit, const NestedKernels& kernels,
                       const std::byte* source, std::byte* destination) {
    copy_tiles(loops.first(loops.size() - 2), tile_of_loops(loops, unit), kernels, source,
               destination);
}

}  // namespace hocket::kernel
