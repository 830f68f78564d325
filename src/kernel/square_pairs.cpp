// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/square_pairs.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace hocket::kernel {

using base::ceil_div;

TilePairs::TilePairs(const Squares& squares, std::byte* array, std::int64_t width, int threads)
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
    // One part is two rows of tiles. Row 0 has the most tiles, so pairs of rows (first and last, …)
    // are even. A thread takes several small matrices at a time, because neighbours share cache
    // lines and pages.
    constexpr std::int64_t bytes_together = 256 << 10;
    pairs_ = ceil_div<std::int64_t>(tiles_, 2);
    parts_ = squares.outer * squares.inner * pairs_;
    together_ = std::max<std::int64_t>(
        1, std::min(bytes_together / (side * side * unit), parts_ / (std::int64_t{4} * threads)));
}

std::int64_t TilePairs::groups() const {
    return ceil_div(parts_, together_);
}

TilePairs::Walk TilePairs::group(std::int64_t index) const {
    return {*this, index * together_, std::min((index + 1) * together_, parts_)};
}

std::int64_t TilePairs::begin_of(std::int64_t tile) const {
    return std::clamp<std::int64_t>(tile * width_ - before_, 0, squares_.side);
}

void TilePairs::Walk::enter_part() {
    if (part_ == last_) return;
    const Squares& squares = of_.squares_;
    const std::int64_t matrix = part_ / of_.pairs_;
    matrix_ = of_.array_ + matrix / squares.inner * squares.side * squares.pitch +
              matrix % squares.inner * squares.inner_step;
    row_ = column_ = part_ % of_.pairs_;
}

std::optional<TilePairs::Pair> TilePairs::Walk::next() {
    if (part_ == last_) return std::nullopt;
    const std::int64_t pitch = of_.squares_.pitch, unit = of_.squares_.unit;
    const std::int64_t r = of_.begin_of(row_), c = of_.begin_of(column_);
    const Pair pair{.above = matrix_ + r * pitch + c * unit,
                    .below = matrix_ + c * pitch + r * unit,
                    .rows = of_.begin_of(row_ + 1) - r,
                    .columns = of_.begin_of(column_ + 1) - c};
    if (++column_ < of_.tiles_) return pair;
    const std::int64_t other = of_.tiles_ - 1 - row_;
    if (other > row_) {
        row_ = column_ = other;
    } else {
        ++part_;
        enter_part();
    }
    return pair;
}

}  // namespace hocket::kernel
