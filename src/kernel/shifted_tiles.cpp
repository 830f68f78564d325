// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/shifted_tiles.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/pool.hpp"
#include "kernel/tiles.hpp"

namespace hocket::kernel {
namespace {

void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

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

std::int64_t ShiftedTiles::ranges(int threads) const {
    return std::min<std::int64_t>(threads, bands());
}

/// The bands of one thread.
class ShiftedTiles::Range {
  public:
    Range(const ShiftedTiles& of, int threads, std::int64_t index)
        : of_(of), up_(of.direction() > 0) {
        const std::int64_t ranges = of.ranges(threads), in_band = of.side * of.across();
        first_ = of.bands() * index / ranges;
        last_ = of.bands() * (index + 1) / ranges;
        begin_ = index == 0 ? 0 : of.before(first_ * in_band);
        end_ = index + 1 == ranges ? of.bytes() : of.before(last_ * in_band);
        if (up_ && index + 1 < ranges) outside_ = of.after(last_ * in_band) - end_;
        if (!up_ && index > 0) outside_ = begin_ - of.after(first_ * in_band);
    }
    /// Bytes that leave this part of the array, and wait until its neighbour has been read.
    std::int64_t outside() const { return outside_; }

    void make_blocks(std::byte* array) {
        waiting_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(outside_));
        for (std::int64_t k = 0; k < last_ - first_; ++k) {
            const std::int64_t band = up_ ? last_ - 1 - k : first_ + k;
            of_.tiles().transpose_band(array + band * of_.side * of_.pitch());
            move_band(array, band);
        }
    }
    void write_waiting(std::byte* array) const {
        copy_bytes(array + (up_ ? end_ : begin_ - outside_), waiting_.get(), outside_);
    }

  private:
    /// Pieces end where a row ends, of the matrix or of its transpose.
    void move_band(std::byte* array, std::int64_t band) const {
        const std::int64_t across = of_.across(), bands = of_.bands();
        const std::int64_t first = band * of_.side * across, last = first + of_.side * across;
        for (std::int64_t begin, end = last; up_ && end > first; end = begin) {
            const std::int64_t k = end - 1;
            begin = std::max({first, k / across * across, k / bands * bands});
            move_up(array, begin, end);
        }
        for (std::int64_t begin = first, end; !up_ && begin < last; begin = end) {
            end = std::min({last, (begin / across + 1) * across, (begin / bands + 1) * bands});
            move_down(array, begin, end);
        }
    }
    void move_up(std::byte* array, std::int64_t first, std::int64_t last) const {
        const std::int64_t from = of_.before(first), to = of_.after(first);
        const std::int64_t bytes = (last - first) * of_.block();
        const std::int64_t inside = std::clamp<std::int64_t>(end_ - to, 0, bytes);
        if (inside < bytes)
            copy_bytes(waiting_.get() + (to + inside - end_), array + from + inside,
                       bytes - inside);
        std::memmove(array + to, array + from, static_cast<std::size_t>(inside));
    }
    void move_down(std::byte* array, std::int64_t first, std::int64_t last) const {
        const std::int64_t from = of_.before(first), to = of_.after(first);
        const std::int64_t bytes = (last - first) * of_.block();
        const std::int64_t over = std::clamp<std::int64_t>(begin_ - to, 0, bytes);
        if (over > 0) copy_bytes(waiting_.get() + (to - begin_ + outside_), array + from, over);
        std::memmove(array + to + over, array + from + over,
                     static_cast<std::size_t>(bytes - over));
    }

    const ShiftedTiles& of_;
    bool up_;
    std::int64_t first_, last_;  // bands
    std::int64_t begin_, end_;   // bytes of the array
    std::int64_t outside_ = 0;
    std::unique_ptr<std::byte[]> waiting_;
};

std::int64_t ShiftedTiles::memory(int threads) const {
    std::int64_t sum = tiles().memory(threads);
    for (std::int64_t k = 0; k < ranges(threads); ++k) sum += Range(*this, threads, k).outside();
    return sum;
}

void ShiftedTiles::make_blocks(std::byte* array, int threads) const {
    std::vector<Range> all;
    for (std::int64_t k = 0; k < ranges(threads); ++k) all.emplace_back(*this, threads, k);
    base::parallel_for(threads, std::ssize(all), [&](std::int64_t k) {
        all[static_cast<std::size_t>(k)].make_blocks(array);
    });
    for (const Range& range : all) range.write_waiting(array);
}

}  // namespace hocket::kernel
