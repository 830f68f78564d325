// SPDX-License-Identifier: BSD-3-Clause
// Where the cycles of a permutation begin, and how long they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernel/permutation.hpp"

namespace hocket::kernel {

/// A piece of a vacancy-tracking cycle: `length` places from `start` on. A cycle that is not cut
/// is one segment; of one that is, the last move takes what `next` began with.
struct Segment {
    std::int64_t start, length;
    std::int64_t next;  // first place of the piece that follows, or `start` itself: a whole cycle
    bool whole() const { return next == start; }
};

/// Finds the cycles longer than 1 of one item of a permutation's batch, each once.
///
/// Two dimensions, (M, N) to (N, M): the next vacancy after x is x N mod (M N - 1), so that the
/// places with gcd(x, M N - 1) = g form cosets of the subgroup that N generates among the units
/// modulo m = (M N - 1) / g. Their representatives are written down directly from generators of
/// the unit group (the idea of Gustavson, Karlsson and Kagstrom, "Parallel and Cache-Efficient
/// In-Place Matrix Storage Format Conversion", 2012): no table, no walk, no visited bits.
/// Other ranks, and rings: one bit a place, and every cycle is walked once.
class CycleFinder {
  public:
    explicit CycleFinder(const Permutation& permutation, const Ring& ring = {});
    CycleFinder(CycleFinder&&) noexcept;
    ~CycleFinder();

    /// Appends the segments of further cycles until `out` holds at least `enough`; cycles are cut
    /// so that no segment is longer than `longest`. False once there are no more.
    bool find(std::vector<Segment>& out, std::size_t enough, std::int64_t longest);

    /// Bytes this finder needs beyond what it appends.
    static std::int64_t memory(const Permutation& permutation, const Ring& ring = {});

  private:
    struct Method;
    std::unique_ptr<Method> method_;
};

}  // namespace hocket::kernel
