// SPDX-License-Identifier: BSD-3-Clause
// The pairs of tiles of square matrices that change places, in the order of the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

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
    class Walk;

    TilePairs(const Squares& squares, std::byte* array, std::int64_t width, int threads);

    /// Threads share the work in groups.
    std::int64_t groups() const;
    Walk group(std::int64_t index) const;

  private:
    std::int64_t begin_of(std::int64_t tile) const;
    Pair at(std::int64_t index) const;

    const Squares& squares_;
    std::byte* array_;
    std::int64_t width_, before_ = 0, tiles_, pairs_, all_, together_;
};

class TilePairs::Walk {
  public:
    Walk(const TilePairs& of, std::int64_t first, std::int64_t last)
        : of_(of), next_(first), last_(last) {}
    std::optional<Pair> next() {
        if (next_ == last_) return std::nullopt;
        return of_.at(next_++);
    }

  private:
    const TilePairs& of_;
    std::int64_t next_, last_;
};

}  // namespace hocket::kernel
