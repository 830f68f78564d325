// SPDX-License-Identifier: BSD-3-Clause
// The coordinates of another layout's dimension that share elements with an index set, and how
// many.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/index_set.hpp"

namespace hocket::plan {

struct Share {
    std::int64_t coordinate;
    std::int64_t count;
};

/// Increasing, without zeros. Time grows with coordinates found and periods, not with processes.
std::vector<Share> shares(const layout::IndexSet& own, const layout::Axis& peer);

/// `shares` for the coordinates of one layout's dimension, computed once each.
class ShareTable {
  public:
    ShareTable(const layout::Axis& own, const layout::Axis& peer) : own_(own), peer_(peer) {}
    const std::vector<Share>& of(std::int64_t coordinate);

  private:
    layout::Axis own_, peer_;
    std::vector<std::vector<Share>> rows_;
    std::vector<layout::IndexSet> held_;  // of the peer's coordinates
};

/// Whether `count_shares` takes a few operations for each coordinate of a layout's dimension.
bool has_count_formula(const layout::Axis& own, const layout::Axis& peer);

/// The number of entries of `shares`; by a formula if there is one.
std::int64_t count_shares(const layout::IndexSet& own, const layout::Axis& peer);

}  // namespace hocket::plan
