// SPDX-License-Identifier: BSD-3-Clause
// The elements that processes exchange if a side is no grid: boxes of indices, each within one box
// or segment.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/interval.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

/// A box of indices (one range for each dimension of the source), and the local index of its first
/// element on each side that is a list.
struct CommonBox {
    std::vector<layout::Range> box;
    std::int64_t place = 0;  ///< of its first element in the source's row-major order
    std::int64_t source_local = 0;
    std::int64_t destination_local = 0;
};

/// The elements that one process exchanges with one process of the other side.
struct PeerBoxes {
    std::int64_t peer;
    std::int64_t count;
    std::vector<CommonBox> pieces;  ///< in the source's row-major order of their first elements
};

/// The holders of an element to include.
enum class Holders {
    all,
    first_copies,  ///< the first of a grid's copies
    senders        ///< for a source of boxes or lists: the holder that sends the element
};

/// All groups of one process, by increasing peer. Time grows with boxes and segments; if this side
/// is a grid, with those of the other side between its first and last element.
std::vector<PeerBoxes> peer_boxes_of(const Problem& problem, Side side, std::int64_t rank,
                                     Holders holders);

}  // namespace hocket::plan
