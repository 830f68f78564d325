// SPDX-License-Identifier: BSD-3-Clause
// The traffic of plans with too many messages to list: sums of each process, not of each pair.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plan/stage.hpp"

namespace hocket::plan {

/// The direct traffic of single processes with all others. Between two grids, the peers and the
/// elements of a process are products over the dimensions, so a table of each dimension suffices.
/// Other layouts (boxes, lists) have no such rule: there hocket computes the parts of some
/// processes, so that the time is bounded by 2^17 peers, or by those of two processes of each side.
class Sums {
  public:
    struct Sample {
        std::int64_t rank;
        Ends ends;
        double messages() const { return ends.near_messages + ends.far_messages; }
        double elements() const { return ends.near_elements + ends.far_elements; }
    };

    Sums(const std::shared_ptr<const Problem>& problem, const Costs& costs);
    /// Of all processes: `parcels` are those of the plan.
    Sums(const std::shared_ptr<const Problem>& problem, const Costs& costs,
         std::span<const Parcel> parcels);

    /// All processes of a side, or evenly spaced ones if there are many.
    const std::vector<Sample>& of(Side side) const { return samples_[side == Side::destination]; }
    /// Whether the samples are all processes, and exact: between grids without copies that have a
    /// formula.
    bool complete() const { return complete_; }
    /// The number of processes that each sample stands for.
    double weight(Side side) const;
    /// Of all processes together.
    double messages() const;
    double elements(Side side) const;

  private:
    struct Line;
    void from_tables(Side side);
    void from_parts(Side side);
    void split_by_nodes(Side side);

    const std::shared_ptr<const Problem>& problem_;
    const Costs& costs_;
    std::vector<Sample> samples_[2];
    bool complete_ = false;
};

/// The predicted seconds of a strategy, from sums. Traffic is assumed to be spread as if the
/// elements of a pair were proportional to those of both its processes.
double predict_from(const Sums& sums, const Problem& problem, const Costs& costs, Strategy strategy,
                    std::int64_t stages);

}  // namespace hocket::plan
