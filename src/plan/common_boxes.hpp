// SPDX-License-Identifier: BSD-3-Clause
// What processes exchange where a side is no grid: boxes of indices, each within one box or
// segment.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/interval.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

/// A box of indices (one range for each dimension of the source), and where its first element lies
/// in the local array of each side that is a list.
struct CommonBox {
    std::vector<layout::Range> box;
    std::int64_t place = 0;  ///< of its first element in the source's row-major order
    std::int64_t source_local = 0;
    std::int64_t destination_local = 0;
};

/// What one process exchanges with one process of the other side.
struct PeerBoxes {
    std::int64_t peer;
    std::int64_t count;
    std::vector<CommonBox> pieces;  ///< in the source's row-major order of their first elements
};

/// Which of several holders of an element count.
enum class Holders {
    all,
    first_copies,  ///< of a grid's copies the first
    senders        ///< of a source of boxes or lists the one that sends the element
};

/// All groups of one process, by increasing peer. Costs by boxes and segments; where this side is a
/// grid, by those of the other that lie between its first and last element.
std::vector<PeerBoxes> peer_boxes_of(const Problem& problem, Side side, std::int64_t rank,
                                     Holders holders);

}  // namespace hocket::plan
