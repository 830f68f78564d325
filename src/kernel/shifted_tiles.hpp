// SPDX-License-Identifier: BSD-3-Clause
// One pass over a matrix in place that makes long blocks although its sides have no common divisor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/move_cycles.hpp"
#include "kernel/moved_rows.hpp"
#include "kernel/permutation.hpp"
#include "kernel/ringed_tiles.hpp"

namespace hocket::kernel {

/// A matrix of (rows, columns) units of `unit` bytes in bands of square tiles; the rows beyond the
/// last band and the columns beyond the last tile are the caller's, who saves them before.
///
/// Each band is a ring of tiles. A tile's rows are then blocks of `side` units. They move on, while
/// a cache still holds the band, from rows of the matrix to rows of its transpose, which have
/// another length: by a few KiB, all up or all down.
struct ShiftedTiles {
    std::int64_t rows, columns, unit, side;

    std::int64_t bands() const { return rows / side; }      // and blocks in a row of the transpose
    std::int64_t across() const { return columns / side; }  // blocks in a row of the matrix
    std::int64_t spare_rows() const { return rows % side; }
    std::int64_t spare_columns() const { return columns % side; }
    std::int64_t block() const { return side * unit; }
    std::int64_t bytes() const { return rows * columns * unit; }

    /// Whether blocks move in one direction only and the first-level cache holds two tiles.
    bool possible() const;
    /// 1: no block moves down; -1: no block moves up; 0: some do either.
    int direction() const;
    /// Bytes of buffers, all threads together.
    std::int64_t memory(int threads) const;
    void make_blocks(std::byte* array, int threads) const;

    /// For the cycles that follow: the places of blocks, the permutation that moves them, and the
    /// ring that each band is.
    BlockPositions positions() const { return {block(), bands(), rows * unit}; }
    Permutation of_blocks() const;
    Ring ring() const { return {.step = 1, .in_ring = across(), .first = true}; }

  private:
    std::int64_t in_band() const { return side * across(); }
    /// The rows of the matrix become those of its transpose.
    MovedRows moved() const {
        return {{block(), across(), columns * unit}, positions(), bands() * in_band()};
    }
    std::vector<MovedRows::Range> ranges(const MovedRows& rows, int threads) const;
    RingedTiles tiles() const { return {rows, columns, unit, side}; }
};

}  // namespace hocket::kernel
