// SPDX-License-Identifier: BSD-3-Clause
// A permutation of a dense array's dimensions in normal form, and its effect on positions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

    std::size_t dimensions() const { return extents.size(); }
    bool identity() const { return extents.empty(); }
    std::int64_t blocks() const;               // of one item of the batch
    std::vector<std::int64_t> result() const;  // extents in destination order
    std::string text() const;                  // "8 x (5, 4, 3) axes (2, 1, 0)"
};

/// @throws LayoutError if `axes` is no permutation of the dimensions, an extent is negative, or the
///         product with `unit` does not fit 63 bits.
void check_permutation(std::span<const std::int64_t> shape, std::span<const std::int64_t> axes,
                       std::int64_t unit);

/// @throws LayoutError as check_permutation.
Permutation make_permutation(std::span<const std::int64_t> shape,
                             std::span<const std::int64_t> axes, std::int64_t unit);

/// A pass before or after the cycles that moves every run of `in_ring` positions (the last one of
/// an item may be shorter) `step` positions down, the first ones to the end.
///
/// With a side, positions are those of bands: `across` square tiles of `side` rows, each a block
/// long. Before the cycles, the pass takes columns of a band to rows of the tiles, and in every run
/// of `in_ring` tiles each to the tile before it; after the cycles, rows to columns.
struct Ring {
    std::int64_t step = 0;  // 0: no pass
    std::int64_t in_ring = 0;
    bool first = true;  // before the cycles, else after them
    std::int64_t side = 0, across = 0;
    bool operator==(const Ring&) const = default;
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
    std::int64_t moved(std::int64_t position) const {
        if (side_ == 0) return down(position, positions_);
        const std::int64_t across = band_.divisor() / side_;
        const std::int64_t band = band_.quotient(position) * band_.divisor();
        const std::int64_t quotient = in_band_.quotient(position - band);
        const std::int64_t rest = position - band - quotient * in_band_.divisor();
        return first_ ? band + rest * across + down(quotient, across)
                      : band + down(rest, across) * side_ + quotient;
    }
    /// One step down in the ring of a position, of so many positions in all.
    std::int64_t down(std::int64_t position, std::int64_t all) const {
        const std::int64_t ring = in_ring_.quotient(position) * in_ring_.divisor();
        const std::int64_t lower = position - step_;
        return lower >= ring ? lower : lower + std::min(in_ring_.divisor(), all - ring);
    }

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
    std::int64_t positions_, step_, side_;
    Divider in_ring_;
    Divider band_, in_band_;  // of rings with a side
    bool first_;
};

/// Row-major strides of dense `extents`, the last being `unit`.
std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> extents, std::int64_t unit);

}  // namespace hocket::kernel
