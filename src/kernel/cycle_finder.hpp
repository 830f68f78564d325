// SPDX-License-Identifier: BSD-3-Clause
// Finds the cycles of a permutation: their starts and lengths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernel/permutation.hpp"

namespace hocket::kernel {

/// A segment of a vacancy-tracking cycle: `length` positions from `start` on. An undivided cycle is
/// one segment. In a divided cycle, the last move of a segment takes the original contents of
/// `next`.
struct Segment {
    std::int64_t start, length;
    std::int64_t next;  // first position of the next segment, or `start` for an undivided cycle
    bool whole() const { return next == start; }
};

/// Finds the cycles longer than 1 of one item of a permutation's batch, each once.
///
/// Two dimensions, (M, N) to (N, M): the next vacancy after x is x N mod (M N - 1), so that the
/// positions with gcd(x, M N - 1) = g form cosets of the subgroup that N generates among the units
/// modulo m = (M N - 1) / g. Generators of the unit group give their representatives directly (the
/// idea of Gustavson, Karlsson and Kagstrom, "Parallel and Cache-Efficient In-Place Matrix Storage
/// Format Conversion", 2012): no table, no walk, no visited bits. Other ranks, and rings: one bit a
/// position, and one walk along every cycle.
class CycleFinder {
  public:
    explicit CycleFinder(const Permutation& permutation, const Ring& ring = {});
    CycleFinder(CycleFinder&&) noexcept;
    ~CycleFinder();

    /// Appends the segments of further cycles until `out` holds at least `enough`; divides cycles
    /// so that no segment is longer than `longest`. False if there are no more.
    bool find(std::vector<Segment>& out, std::size_t enough, std::int64_t longest);

    /// Bytes that this finder needs beyond the appended segments.
    static std::int64_t memory(const Permutation& permutation, const Ring& ring = {});

  private:
    struct Method;
    std::unique_ptr<Method> method_;
};

}  // namespace hocket::kernel
