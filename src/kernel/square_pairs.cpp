// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/square_pairs.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace hocket::kernel {

using base::ceil_div;

TilePairs::TilePairs(const Squares& squares, std::byte* array, std::int64_t width)
    : squares_(squares), array_(array), width_(width) {
    // Tiles begin at cache lines, if the lines begin at the same units of all rows: the first tile
    // is narrower by the matrix's offset within a line. Otherwise each row of a tile would share a
    // line with a tile that is processed much later, and the line would move twice.
    constexpr std::int64_t line = 64;
    const std::int64_t unit = squares.unit, side = squares.side;
    const bool lines = squares.pitch % line == 0 && squares.inner_step % line == 0 &&
                       line % unit == 0 && width * unit % line == 0 && side >= 2 * width;
    const auto in_line = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(array) % line);
    if (lines && in_line % unit == 0) before_ = in_line / unit;
    tiles_ = ceil_div(side + before_, width);
    pairs_ = tiles_ * (tiles_ + 1) / 2;
}

std::int64_t TilePairs::begin_of(std::int64_t tile) const {
    return std::clamp<std::int64_t>(tile * width_ - before_, 0, squares_.side);
}

TilePairs::Pair TilePairs::at(std::int64_t index) const {
    // The first row of tiles and the last, the second and the second last, ...: as many pairs in
    // each two.
    const std::int64_t matrix = index / pairs_, two_rows = index % pairs_ / (tiles_ + 1);
    std::int64_t row = two_rows, column = row + index % pairs_ % (tiles_ + 1);
    if (column >= tiles_) {
        row = tiles_ - 1 - row;
        column += row - tiles_;
    }
    std::byte* const first = array_ + matrix / squares_.inner * squares_.side * squares_.pitch +
                             matrix % squares_.inner * squares_.inner_step;
    const std::int64_t pitch = squares_.pitch, unit = squares_.unit;
    const std::int64_t r = begin_of(row), c = begin_of(column);
    return {.above = first + r * pitch + c * unit,
            .below = first + c * pitch + r * unit,
            .rows = begin_of(row + 1) - r,
            .columns = begin_of(column + 1) - c};
}

}  // namespace hocket::kernel
