// SPDX-License-Identifier: BSD-3-Clause
// Segment families: the intersection of two index sets, in compressed form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "layout/index_set.hpp"

namespace hocket::layout {

/// `count` repetitions, with steps in the global dimension, the source's local dimension and the
/// destination's.
struct Repeat {
    std::int64_t count;
    std::int64_t global;
    std::int64_t source;
    std::int64_t destination;
    friend bool operator==(const Repeat&, const Repeat&) = default;
};

/// A segment family (FALLS; nested for blocks of blocks): the innermost repeat is the run of
/// consecutive indices; the others repeat it, outermost first.
struct Family {
    std::int64_t first;        ///< its first element in the global dimension
    std::int64_t source;       ///< the index of that element in the source's local dimension
    std::int64_t destination;  ///< and in the destination's
    std::vector<Repeat> repeats;

    std::int64_t count() const;
    friend bool operator==(const Family&, const Family&) = default;
};

/// The elements in both sets, every one exactly once, sorted by first element. A pure function of
/// the two sets, so both sides of a transfer find the same list independently. The cost grows with
/// the runs of one common period, not with elements or blocks.
std::vector<Family> intersect(const IndexSet& source, const IndexSet& destination);

/// The number of elements that both sets hold.
std::int64_t count_common(const IndexSet& a, const IndexSet& b);

/// Whether there is any; cheaper for periodic sets.
bool any_common(const IndexSet& a, const IndexSet& b);

}  // namespace hocket::layout
