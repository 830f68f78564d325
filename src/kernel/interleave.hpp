// SPDX-License-Identifier: BSD-3-Clause
// Copies whose runs lie among each other in the destination and leave nothing out together, as
// those of CYCLIC to BLOCK do: made in one pass, whole cache lines at a time and past the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hocket/kernel.hpp"

namespace hocket::kernel {

/// One copy of a weave, and where it begins: bytes from the arrays' places. Refers to the copy.
struct InterleavedRuns {
    const Copy* copy;
    std::int64_t source, destination;
};

class InterleavedCopy {
  public:
    /// Nothing where these do not make up whole lines together, or are short, or the processor has
    /// no AVX-512: whoever asks makes the copies one by one then.
    static std::optional<InterleavedCopy> of(std::span<const InterleavedRuns> copies);

    /// All of the copies: from `sources`, one a strand in the order in which they were given.
    void run(std::span<const std::byte* const> sources, std::byte* destination) const;

  private:
    struct Placed {
        std::size_t source;  // which
        std::int64_t source_offset, count;
        std::vector<std::int64_t> steps;  // of the source, a loop of `around_` each
    };
    struct Around {
        std::int64_t extent, step;  // of the destination
        bool operator==(const Around&) const = default;
    };
    using Sources = std::vector<const std::byte*>;  // as the strands are placed

    void run_row(const Sources& from, std::byte* to) const;

    std::vector<Placed> placed_;  // the strands, as they follow each other in the destination
    std::vector<Around> around_;  // the rows that are woven, outermost loop first
    std::int64_t run_ = 0, first_ = 0, turns_ = 0;
};

}  // namespace hocket::kernel
