// SPDX-License-Identifier: BSD-3-Clause
// Square tiles of a matrix that are transposed in rings, in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/permutation.hpp"

namespace hocket::kernel {

/// A matrix of (rows, columns) units of `unit` bytes in bands of square tiles of `side` rows. Each
/// tile is transposed directly into the place of the one before it in its ring, which has been
/// read, and the first one through a buffer into the place of the last. The matrix may be one of
/// many dimensions: a tile's columns need not end where one of them does, and its rows may be those
/// of an `order`, anywhere in the array.
///
/// Columns beyond the last tile stay where they are; or, `packed`, they become blocks, too, so that
/// the band has blocks only. A row then begins at the last block that does not begin after it, in
/// the end of the row before it: one more tile waits in the buffer until the band has been read. If
/// that row is one of another band, the block waits until all bands have been read.
struct RingedTiles {
    std::int64_t rows, columns, unit, side;
    bool packed = false, gathers = true;  // from columns to blocks, or back, packed: upwards
    RowOrder order{};                     // of an item of rows

    std::int64_t bands() const { return rows / side; }
    std::int64_t across() const { return columns / side; }
    std::int64_t block() const { return side * unit; }
    std::int64_t spare() const { return packed ? columns % side : 0; }

    /// Whether few rows of a tile share a set of the first-level cache.
    bool possible() const;
    /// 1 if two tiles need too many lines of some of its sets, 2 if they do not fit at all.
    int crowded() const;
    /// Whether the rows that are written are no whole lines.
    bool parts_of_lines() const {
        constexpr std::int64_t line = 64;
        return block() % line != 0 || (!gathers && columns * unit % line != 0);
    }
    /// The part of tiles that wait in a buffer.
    double waiting() const {
        return static_cast<double>(lag() + 1) / static_cast<double>(across());
    }
    /// Bytes of buffers, all threads together.
    std::int64_t memory(int threads) const;
    /// In the rings of ring(), for any number of threads.
    void transpose(std::byte* array, const Ring& ring, int threads) const;
    /// The effect of the pass on the positions of blocks, for the cycles before or after it.
    Ring ring(int threads) const {
        return {.step = 1,
                .in_ring = in_ring(threads),
                .first = gathers,
                .side = side,
                .across = across(),
                .spare = spare(),
                .order = order};
    }
    /// Transposes one band as one ring.
    void transpose_band(std::byte* first) const;

  private:
    class Band;
    class Seams;
    bool has_seams() const { return spare() > 0 && !order.in_place(); }
    std::int64_t seam_bytes() const { return rows * block() + bands() * spare() * block(); }
    std::int64_t in_ring(int threads) const;
    /// The places of a ring, beside the last, whose contents are read later than others' of the
    /// same band.
    std::int64_t lag() const { return spare() > 0 ? 1 : 0; }
    /// Lines of any set of the first-level cache, of so many lines of each row of a tile.
    std::int64_t most_in_set(std::int64_t lines) const;
    std::int64_t buffer_bytes() const;
};

}  // namespace hocket::kernel
