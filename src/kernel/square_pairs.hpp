// SPDX-License-Identifier: BSD-3-Clause
// The pairs of tiles of square matrices that change places, in the order of the work.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/square.hpp"

namespace hocket::kernel {

class TilePairs {
  public:
    /// Tile (r, c) and tile (c, r) of a matrix, c >= r. The first one has `rows` rows.
    struct Pair {
        std::byte *above, *below;
        std::int64_t rows, columns;
        bool diagonal() const { return above == below; }
    };

    TilePairs(const Squares& squares, std::byte* array, std::int64_t width);

    /// Of all matrices.
    std::int64_t count() const { return squares_.outer * squares_.inner * pairs_; }
    Pair at(std::int64_t index) const;

  private:
    std::int64_t begin_of(std::int64_t tile) const;

    const Squares& squares_;
    std::byte* array_;
    std::int64_t width_, before_ = 0, tiles_, pairs_;
};

}  // namespace hocket::kernel
