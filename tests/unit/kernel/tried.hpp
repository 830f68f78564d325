// SPDX-License-Identifier: BSD-3-Clause
// Distances on trial, to the end of a scope.
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

}  // namespace hocket::testing
