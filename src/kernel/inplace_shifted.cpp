// SPDX-License-Identifier: BSD-3-Clause
// Matrices whose sides have no common divisor, for example primes, in little more than two passes:
// a few rows and columns stay in a buffer, tiles of the rest make blocks, and cycles move these.
#include <algorithm>
#include <vector>

#include "kernel/costs.hpp"
#include "kernel/inplace_steps.hpp"
#include "kernel/remainder.hpp"
#include "kernel/shifted_tiles.hpp"

namespace hocket::kernel {
namespace {

struct Shift {
    const Permutation& permutation;
    ShiftedTiles tiles;

    Shift(const Permutation& what, std::int64_t side)
        : permutation(what), tiles{what.extents[0], what.extents[1], what.block, side} {}

    Remainder last_rows() const {
        return {permutation, 0, tiles.rows - tiles.spare_rows(), tiles.spare_rows()};
    }
    Remainder last_columns() const {
        return {permutation, 1, tiles.columns - tiles.spare_columns(), tiles.spare_columns()};
    }
    double cost() const {
        const auto spared = [&](std::int64_t units, std::int64_t row) {
            return static_cast<double>(units) / static_cast<double>(row);
        };
        // The rows of a band move while a cache holds it. (Measured: bands of 1 to 2 MiB are equal,
        // one of 5 MiB costs more by 0.5 to 0.8.)
        constexpr double near = 2 << 20;
        const auto band = static_cast<double>(tiles.side * tiles.columns * tiles.unit);
        const double far = std::clamp(0.3 * (band / near - 1.0), 0.0, 0.5);
        // Each line of a spare column is read on its own, and blocks do not begin at lines.
        return far + shifted(tiles.block()) + scattered(tiles.block(), 2) +
               32.0 / static_cast<double>(tiles.block()) +
               128.0 / static_cast<double>(tiles.columns * tiles.unit) +
               128.0 / static_cast<double>(tiles.rows * tiles.unit) +
               4.0 * spared(tiles.spare_rows(), tiles.rows) +
               4.0 * spared(tiles.spare_columns(), tiles.columns);
    }
    std::int64_t memory(int threads) const {
        return tiles.memory(threads) + last_rows().bytes() + last_columns().bytes() +
               move_cycles_memory(tiles.of_blocks(), tiles.positions(),
                                  {.threads = threads, .schedule = {}}, tiles.ring());
    }
    void run(std::byte* array, const Pass& pass) const {
        std::vector<std::byte> rows(static_cast<std::size_t>(last_rows().bytes()));
        std::vector<std::byte> columns(static_cast<std::size_t>(last_columns().bytes()));
        last_rows().save(array, rows.data(), pass.threads);
        last_columns().save(array, columns.data(), pass.threads);
        tiles.make_blocks(array, pass.threads);
        move_cycles(array, tiles.of_blocks(), tiles.positions(), pass, tiles.ring());
        last_rows().restore(array, rows.data(), pass.threads);
        last_columns().restore(array, columns.data(), pass.threads);
    }
    std::string text() const {
        const std::string side = std::to_string(tiles.side);
        return "tiles of " + side + " x " + side + " blocks of " + size_text(tiles.unit) +
               " turned in rings and moved to rows of the result, then cycles of " +
               size_text(tiles.block()) + " blocks: " + tiles.of_blocks().text() + "; " +
               std::to_string(tiles.spare_rows()) + " of " + std::to_string(tiles.rows) +
               " rows and " + std::to_string(tiles.spare_columns()) + " of " +
               std::to_string(tiles.columns) + " columns through a buffer";
    }
};

}  // namespace

std::optional<Step> shifted_step(const Permutation& permutation, const Resources& means) {
    if (permutation.batch != 1 || permutation.dimensions() != 2) return std::nullopt;
    const std::int64_t unit = permutation.block;
    const bool transposed_in_registers = unit == 4 || unit == 8 || unit == 16;
    if (!transposed_in_registers) return std::nullopt;
    constexpr std::int64_t longest_block = 1024;
    const std::int64_t in_line = 64 / unit;
    std::optional<Shift> best;
    for (std::int64_t side = in_line; side * unit <= longest_block; side += in_line) {
        const Shift shift(permutation, side);
        if (!shift.tiles.possible() || (best && shift.cost() >= best->cost())) continue;
        // Without a remainder there are larger tiles.
        if (shift.tiles.spare_rows() == 0 && shift.tiles.spare_columns() == 0) continue;
        if (shift.memory(means.threads) <= means.memory) best.emplace(shift);
    }
    if (!best) return std::nullopt;
    return Step{
        .what = best->text(),
        .cost = best->cost(),
        .memory = best->memory(means.threads),
        .run = [whole = permutation, side = best->tiles.side](std::byte* array, const Pass& pass) {
            Shift(whole, side).run(array, pass);
        }};
}

}  // namespace hocket::kernel
