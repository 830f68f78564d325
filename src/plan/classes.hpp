// SPDX-License-Identifier: BSD-3-Clause
// Processes of two grids in classes: all pairs of two classes have equally many common elements.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/assignment.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

/// Two coordinates of a dimension are in one class if they have equally many common indices with
/// each coordinate of the other side. hocket finds classes from periods, and then from tables of
/// the remaining coordinates. So coordinates of different classes may be equal if there are many.
struct DimensionClasses {
    DimensionClasses(const layout::Axis& from, const layout::Axis& to);

    std::vector<std::int64_t> source, destination;            ///< of each coordinate
    std::vector<std::int64_t> source_held, destination_held;  ///< indices of a coordinate
    /// For each class of the destination: (class of the source, common indices of a pair).
    std::vector<std::vector<Weight>> columns;
};

/// An upper bound on the classes of a dimension's coordinates, without tables.
std::int64_t count_signatures(const layout::Axis& own, const layout::Axis& peer);

/// The classes of processes are the products of those of their coordinates.
struct ProcessClasses {
    struct SideClasses {
        std::vector<std::int64_t> of;     ///< of each process; -1: it holds nothing
        std::vector<std::int64_t> sizes;  ///< the processes of each class
    };
    explicit ProcessClasses(const Problem& problem);  ///< of two grids

    SideClasses source, destination;
    /// For each class of the destination: (class of the source, common elements of a pair).
    std::vector<std::vector<Weight>> columns;
};

}  // namespace hocket::plan
