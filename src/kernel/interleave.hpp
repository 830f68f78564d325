// SPDX-License-Identifier: BSD-3-Clause
// Copies whose runs interleave in the destination and fill it without gaps, as from CYCLIC to
// BLOCK: made in one pass, a whole cache line at a time, past the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hocket/kernel.hpp"

namespace hocket::kernel {

/// A copy between arrays that begin so many bytes before its first elements.
struct OffsetCopy {
    Copy copy;
    std::int64_t source_offset, destination_offset;
};

class InterleavedCopy {
  public:
    /// None if the copies do not fill whole lines together, if the runs are too short, or without
    /// AVX-512; the caller then makes the copies one by one.
    static std::optional<InterleavedCopy> of(std::span<const OffsetCopy* const> copies);

    /// Makes all copies: `sources` has one address a copy, in their order.
    void run(std::span<const std::byte* const> sources, std::byte* destination) const;

  private:
    struct Placed {
        std::size_t source;  // index of its source
        std::int64_t source_offset, count;
        std::vector<std::int64_t> steps;  // of the source, one for each loop of `around_`
    };
    struct Around {
        std::int64_t extent, step;  // of the destination
        bool operator==(const Around&) const = default;
    };
    using Sources = std::vector<const std::byte*>;  // in the order of positions

    void run_row(const Sources& from, std::byte* to) const;

    std::vector<Placed> placed_;  // the sources, as they follow each other in the destination
    std::vector<Around> around_;  // the interleaved rows, outermost loop first
    std::int64_t run_ = 0, first_ = 0, turns_ = 0;
};

}  // namespace hocket::kernel
