// SPDX-License-Identifier: BSD-3-Clause
// Distances and costs on trial, to the end of a scope.
#pragma once

#include "kernel/costs.hpp"
#include "kernel/stream.hpp"

namespace hocket::testing {

template <class Values, void (*use)(const Values*)>
class Tried {
  public:
    explicit Tried(const Values& values) : values_(values) { use(&values_); }
    ~Tried() { use(nullptr); }
    Tried(const Tried&) = delete;
    Tried& operator=(const Tried&) = delete;

  private:
    Values values_;
};

using TriedDistances = Tried<kernel::Distances, kernel::try_distances>;

/// With costs of buffers that belong to this processor's cache, whatever its size.
struct TriedCosts : Tried<kernel::PassCosts, kernel::try_costs> {
    explicit TriedCosts(kernel::PassCosts costs)
        : Tried((costs.cache = kernel::least_streamed_bytes() / 2, costs)) {}
};

}  // namespace hocket::testing
