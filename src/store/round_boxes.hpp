// SPDX-License-Identifier: BSD-3-Clause
// The boxes of a round as a layout, in which process r has the box of its writer.
//
// A process needs its own box and those that intersect its part of the array. It finds these by
// arithmetic, so its part of a plan grows with its peers, not with the numbers of processes and
// files.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hocket/layout.hpp"
#include "layout/form.hpp"
#include "store/rounds.hpp"

namespace hocket::store {

class RoundBoxes {
  public:
    struct Place {
        std::int64_t processes;  ///< of the communicator
        std::int64_t rank;       ///< of this process
        bool writing;
    };
    /// `axes`: dimension k of the array is dimension axes[k] of the stored array; empty: k.
    RoundBoxes(const Rounds& rounds, const Layout& array, Shape axes, IndexBox region, Place place);

    /// The writer number of a process, or -1.
    std::int64_t writer_at(std::int64_t rank) const;
    /// For this round, relative to the region. Omits boxes that this process does not need.
    Layout layout(std::int64_t round) const;
    /// This process's box in this round, in indices of the stored array.
    IndexBox own(std::int64_t round) const;
    /// The position of a box in this process's part of the array, in local indices; none if some of
    /// it is elsewhere.
    std::optional<Shape> within_part(const IndexBox& box) const;

  private:
    std::int64_t rank_of(std::int64_t writer) const;
    std::size_t stored(std::size_t dimension) const {
        return axes_.empty() ? dimension : static_cast<std::size_t>(axes_[dimension]);
    }
    void find_turns();

    const Rounds& rounds_;
    Shape axes_;
    IndexBox region_;
    Place place_;
    bool all_ = false;                    // all boxes are needed
    std::vector<layout::IndexSet> sets_;  // of this process's part; empty: it is no product
    std::vector<Rounds::Turn> turns_;     // of the tiles that intersect it, sorted
};

}  // namespace hocket::store
