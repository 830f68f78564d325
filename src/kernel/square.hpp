// SPDX-License-Identifier: BSD-3-Clause
// Square matrices transposed in place: the pass swaps pairs of tiles, and moves each line once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::kernel {

/// `outer` x `inner` matrices of (side, side) units of `unit` bytes. Rows are `pitch` bytes apart,
/// the inner matrices `inner_step`, the outer ones side * pitch.
struct Squares {
    std::int64_t side, unit, pitch;
    std::int64_t outer = 1, inner = 1, inner_step = 0;

    void transpose(std::byte* array, int threads) const;
    std::int64_t bytes() const { return outer * inner * side * side * unit; }
    /// Bytes of buffers, all threads together.
    std::int64_t memory(int threads) const;
    double cost() const;  // 1: the array read and written once at the speed of memory

  private:
    struct Tiling;
    class Inside;
    std::int64_t memory_of(const Tiling& tiling) const;  // of one thread
    void turn_whole(std::byte* array, const Tiling& tiling, int threads) const;
    void swap_tiles(std::byte* array, const Tiling& tiling, int threads) const;
};

}  // namespace hocket::kernel
