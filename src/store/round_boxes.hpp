// SPDX-License-Identifier: BSD-3-Clause
// The boxes of a round as a layout, in which process r has that of the writer that it is.
//
// A process needs its own box and those that its part of the array meets. It finds these by
// arithmetic, so its part of a plan costs by peers, however many processes and files there are.
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
    /// `axes`: dimension k of the array is dimension axes[k] of what is stored; empty: k.
    RoundBoxes(const Rounds& rounds, const Layout& array, Shape axes, IndexBox region, Place place);

    /// The writer that a process is, or -1.
    std::int64_t writer_at(std::int64_t rank) const;
    /// Of this round, relative to the region. It lacks boxes that this process has no use for.
    Layout layout(std::int64_t round) const;
    /// This process's box in this round, in indices of what is stored.
    IndexBox own(std::int64_t round) const;
    /// Where a box lies in this process's part of the array, in local indices of its dimensions;
    /// none: some of it lies elsewhere.
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
    bool all_ = false;                    // boxes are needed
    std::vector<layout::IndexSet> sets_;  // of this process's part; empty: it is no product
    std::vector<Rounds::Turn> turns_;     // of the tiles that meet it, sorted
};

}  // namespace hocket::store
