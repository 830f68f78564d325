// SPDX-License-Identifier: BSD-3-Clause
// A permutation of a dense array's dimensions in normal form, and its effect on positions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "kernel/divide.hpp"

namespace hocket::kernel {

/// `batch` independent permutations of `extents` blocks each: destination dimension k is source
/// dimension axes[k]. Normal form: no extent is 1; no two dimensions stay neighbours (they would be
/// fused); the first dimension does not stay first (it would be the batch), nor the last one last
/// (it would be the block). An empty array is a batch of 0.
struct Permutation {
    std::int64_t batch = 1;
    std::vector<std::int64_t> extents;  // in source order
    std::vector<std::size_t> axes;
    std::int64_t block = 1;  // in the caller's unit: elements or bytes
    bool operator==(const Permutation&) const = default;

    std::size_t dimensions() const { return extents.size(); }
    bool identity() const { return extents.empty(); }
    std::int64_t blocks() const;               // of one item of the batch
    std::vector<std::int64_t> result() const;  // extents in destination order
    std::string text() const;                  // "8 x (5, 4, 3) axes (2, 1, 0)"
};

/// The permutation back.
Permutation inverse(const Permutation& permutation);

/// @throws LayoutError if `axes` is no permutation of the dimensions, an extent is negative, or the
///         product with `unit` does not fit 63 bits.
void check_permutation(std::span<const std::int64_t> shape, std::span<const std::int64_t> axes,
                       std::int64_t unit);

/// @throws LayoutError as check_permutation.
Permutation make_permutation(std::span<const std::int64_t> shape,
                             std::span<const std::int64_t> axes, std::int64_t unit);

/// The order in which a pass takes the rows of an array: these have dimensions of `extents` in the
/// array, and of `axes` in order. Without axes, both orders are the same.
struct RowOrder {
    std::vector<std::int64_t> extents;
    std::vector<std::size_t> axes;
    bool operator==(const RowOrder&) const = default;

    bool in_place() const { return axes.empty(); }
    std::int64_t count() const;  // 0 if in place
    /// The places in the array of the first `most` rows in order.
    std::vector<std::int64_t> places(std::int64_t most) const;
};

/// A pass before or after the cycles that moves every run of `in_ring` positions (the last one of
/// an item may be shorter) `step` positions down, the first ones to the end.
///
/// With a side, positions are those of bands: `across` square tiles of `side` rows, each a block
/// long, and `spare` blocks beyond them. Before the cycles, the pass takes columns of a band to
/// rows of the tiles, and in every run of `in_ring` tiles each to the tile before it; after the
/// cycles, rows to columns, and with spare blocks each to the tile after it. Every row begins at
/// the last block that does not begin after it, so that spare blocks are at the ends of some rows.
/// `order` may tell the rows of each band; a row's first block may then begin in another band's
/// row.
struct Ring {
    std::int64_t step = 0;  // 0: no pass
    std::int64_t in_ring = 0;
    bool first = true;  // before the cycles, else after them
    std::int64_t side = 0, across = 0, spare = 0;
    RowOrder order{};
    bool operator==(const Ring&) const = default;

    bool upwards() const { return spare > 0 && !first; }
    std::int64_t in_band() const { return side * across + spare; }
    /// The first block of a row.
    std::int64_t row_start(std::int64_t row) const { return row * in_band() / side; }
    /// The place of a spare block, of those of all bands: at the end of a row.
    std::int64_t place_of_spare(std::int64_t k) const {
        return row_start(base::ceil_div((k + 1) * side, spare)) - 1;
    }
    /// The rows of tiles, of which the cycles have a table, if they have one.
    std::int64_t table_rows(std::int64_t positions) const;
    static constexpr std::int64_t most_rows = 64 << 10;  // 512 KiB
};

/// The position from which the block at a position of the permuted array comes: the next vacancy of
/// its cycle (He and Ding, "MPI and OpenMP Paradigms on Cluster of SMP Architectures", C.1).
class Successor {
  public:
    explicit Successor(const Permutation& permutation, const Ring& ring = {});
    std::int64_t operator()(std::int64_t position) const {
        if (step_ == 0) return source_of(position);
        return first_ ? moved(source_of(position)) : source_of(moved(position));
    }

  private:
    std::int64_t source_of(std::int64_t position) const {
        if (low_.empty()) return by_digits(position);
        const std::int64_t rest = folded_.quotient(position);
        const std::int64_t source =
            low_[static_cast<std::size_t>(position - rest * folded_.divisor())];
        return source + (high_.empty() ? by_digits(rest) : high_[static_cast<std::size_t>(rest)]);
    }
    std::int64_t by_digits(std::int64_t position) const {
        std::int64_t source = 0;
        for (const Digit& digit : digits_) {
            const std::int64_t rest = digit.extent.quotient(position);
            source += (position - rest * digit.extent.divisor()) * digit.stride;
            position = rest;
        }
        return source + position * last_stride_;
    }
    /// The position of a block before the pass, or after it. Every next position waits for the one
    /// before it, so the divisions do not wait for each other where they need not.
    std::int64_t moved(std::int64_t position) const {
        if (side_ == 0) return next_in_ring(position, positions_);
        if (!first_) {
            const Row row = row_at(by_row_.quotient(position * side_ + side_ - 1));
            const std::int64_t tile = position - row.first;
            if (tile == across_) return spare_of(position);
            return row.column + next_tile(tile) * side_;
        }
        const std::int64_t band = band_.quotient(position);
        std::int64_t tile = by_side_.quotient(position) - band * across_;
        std::int64_t rest = position - (band * across_ + tile) * side_;
        if (spare_ > 0) {
            const std::int64_t in_band = position - band * band_.divisor();
            if (in_band >= side_ * across_) return place_of_spare(band, in_band - side_ * across_);
            tile = by_side_.quotient(in_band);
            rest = in_band - tile * side_;
        }
        return row_at(band * side_ + rest).first + next_tile(tile);
    }
    /// Of a row its first block, and the first of its columns as blocks.
    struct Row {
        std::int64_t first, column;
    };
    Row row_at(std::int64_t row) const {
        if (rows_.empty()) return compute_row(row);
        const auto [first, column] = rows_[static_cast<std::size_t>(row)];
        return {first, column};
    }
    Row compute_row(std::int64_t row) const;
    std::int64_t spare_of(std::int64_t position) const;
    std::int64_t place_of_spare(std::int64_t band, std::int64_t k) const;
    std::int64_t next_tile(std::int64_t tile) const {
        if (rings_ > 1) return next_in_ring(tile, across_);
        if (up_) return tile + 1 < across_ ? tile + 1 : 0;
        return tile > 0 ? tile - 1 : across_ - 1;
    }
    /// The next position in the direction of a ring, of so many positions in all.
    std::int64_t next_in_ring(std::int64_t position, std::int64_t all) const {
        const std::int64_t ring = in_ring_.quotient(position) * in_ring_.divisor();
        const std::int64_t end = ring + std::min(in_ring_.divisor(), all - ring);
        if (up_) return position + step_ < end ? position + step_ : position + step_ - (end - ring);
        return position - step_ >= ring ? position - step_ : position - step_ + (end - ring);
    }

    void list_rows(const Ring& ring);

    struct Digit {
        Divider extent;
        std::int64_t stride;  // of that dimension in the source
    };
    std::vector<Digit> digits_;  // fastest first, without the slowest and those of low_
    std::int64_t last_stride_ = 1;
    // Of four dimensions and more, the sources of all positions in the fastest ones, and if these
    // are few, of all in the others: one division instead of a chain of them.
    Divider folded_;
    std::vector<std::int64_t> low_, high_;
    std::int64_t positions_, step_, side_, across_, spare_;
    std::int64_t rings_ = 1;  // of tiles in a band
    Divider in_ring_;
    Divider band_, by_side_, by_row_;                              // of rings with a side
    std::vector<std::pair<std::uint32_t, std::uint32_t>> rows_{};  // of all rows, if they are few
    bool first_, up_;
};

/// Row-major strides of dense `extents`, the last being `unit`.
std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> extents, std::int64_t unit);

}  // namespace hocket::kernel
