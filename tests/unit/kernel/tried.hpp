// SPDX-License-Identifier: BSD-3-Clause
// Distances and costs on trial, to the end of a scope.
#pragma once

#include "kernel/costs.hpp"

namespace hocket::testing {

class TriedDistances {
  public:
    explicit TriedDistances(const kernel::Distances& distances) : distances_(distances) {
        kernel::try_distances(&distances_);
    }
    ~TriedDistances() { kernel::try_distances(nullptr); }
    TriedDistances(const TriedDistances&) = delete;
    TriedDistances& operator=(const TriedDistances&) = delete;

  private:
    kernel::Distances distances_;
};

class TriedCosts {
  public:
    explicit TriedCosts(const kernel::PassCosts& costs) : costs_(costs) {
        kernel::try_costs(&costs_);
    }
    ~TriedCosts() { kernel::try_costs(nullptr); }
    TriedCosts(const TriedCosts&) = delete;
    TriedCosts& operator=(const TriedCosts&) = delete;

  private:
    kernel::PassCosts costs_;
};

}  // namespace hocket::testing
