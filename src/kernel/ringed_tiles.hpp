// SPDX-License-Identifier: BSD-3-Clause
// Square tiles of a matrix that are transposed in rings, in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/permutation.hpp"

namespace hocket::kernel {

/// A matrix of (rows, columns) units of `unit` bytes in bands of square tiles, whose `side` divides
/// both. Each tile is transposed directly into the place of the one before it in its ring, which
/// has been read, and the first one through a buffer into the place of the last. The matrix may be
/// one of many dimensions: a tile's columns need not end where one of them does.
struct RingedTiles {
    std::int64_t rows, columns, unit, side;

    std::int64_t bands() const { return rows / side; }
    std::int64_t across() const { return columns / side; }
    std::int64_t block() const { return side * unit; }

    /// Whether the first-level cache holds two tiles.
    bool possible() const;
    /// Bytes of buffers, all threads together.
    std::int64_t memory(int threads) const;
    /// In the rings of ring(), for any number of threads.
    void turn(std::byte* array, const Ring& ring, int threads) const;
    /// The effect of the pass on the positions of blocks, for the cycles before or after it.
    Ring ring(bool before_cycles, int threads) const {
        return {.step = 1,
                .in_ring = in_ring(threads),
                .first = before_cycles,
                .side = side,
                .across = across()};
    }
    /// Transposes one ring of `tiles` tiles that begins at `first`.
    void turn_ring(std::byte* first, std::int64_t tiles) const;

  private:
    std::int64_t pitch() const { return columns * unit; }
    std::int64_t in_ring(int threads) const;
};

}  // namespace hocket::kernel
