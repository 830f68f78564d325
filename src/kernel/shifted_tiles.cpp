// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/shifted_tiles.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/pool.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {

bool ShiftedTiles::possible() const {
    constexpr std::int64_t two = 2;
    return two * side * block() <= near_methods() * near_method && tiles().possible() &&
           direction() != 0;
}

/// Block k moves up by spare_rows * (k / bands) - spare_columns * (k / across) units, in which the
/// quotients are rounded down: if the first block of the second row does not move down, none does.
int ShiftedTiles::direction() const {
    if (spare_rows() * (across() / bands()) >= spare_columns()) return 1;
    if (spare_columns() * (bands() / across()) >= spare_rows()) return -1;
    return 0;
}

Permutation ShiftedTiles::of_blocks() const {
    const std::array<std::int64_t, 3> shape{bands(), side, across()};
    const std::array<std::int64_t, 3> axes{2, 1, 0};
    return make_permutation(shape, axes, block());
}

std::vector<MovedRows::Range> ShiftedTiles::ranges(const MovedRows& rows, int threads) const {
    const std::int64_t count = std::min<std::int64_t>(threads, bands());
    std::vector<MovedRows::Range> out;
    for (std::int64_t k = 0; k < count; ++k)
        out.emplace_back(rows, bands() * k / count * in_band(),
                         bands() * (k + 1) / count * in_band());
    return out;
}

std::int64_t ShiftedTiles::memory(int threads) const {
    const MovedRows rows = moved();
    std::int64_t sum = tiles().memory(threads);
    for (const MovedRows::Range& range : ranges(rows, threads)) sum += range.waiting_bytes();
    return sum;
}

void ShiftedTiles::make_blocks(std::byte* array, int threads) const {
    const MovedRows rows = moved();
    std::vector<MovedRows::Range> all = ranges(rows, threads);
    const bool up = direction() > 0;
    base::parallel_for(threads, std::ssize(all), [&](std::int64_t range) {
        const std::int64_t first = bands() * range / std::ssize(all);
        const std::int64_t last = bands() * (range + 1) / std::ssize(all);
        for (std::int64_t k = 0; k < last - first; ++k) {
            const std::int64_t band = up ? last - 1 - k : first + k;
            tiles().transpose_band(array + band * side * columns * unit);
            all[static_cast<std::size_t>(range)].move(array, band * in_band(),
                                                      (band + 1) * in_band());
        }
    });
    for (const MovedRows::Range& range : all) range.write_waiting(array);
}

}  // namespace hocket::kernel
