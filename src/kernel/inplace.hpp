// SPDX-License-Identifier: BSD-3-Clause
// Which passes permute an array within its own memory, chosen by what they cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/move_cycles.hpp"
#include "kernel/permutation.hpp"

namespace hocket::kernel {

/// One pass, or several that belong together.
struct Step {
    std::string what;     // for explain_permute
    double cost;          // 1: the array read and written once at the speed of memory
    std::int64_t memory;  // bytes beside the array
    std::function<void(std::byte* array, const Pass& pass)> run;
};

struct InplacePlan {
    std::vector<Step> steps;
    double cost() const;
    std::int64_t memory() const;  // the most that any step needs
};

/// What a plan may use.
struct Means {
    int threads = 1;          // resolved
    std::int64_t memory = 0;  // bytes beside the array, all threads together
    std::string_view method = "auto";
};

/// The cheapest plan for a permutation whose unit is the byte.
/// @throws Error if the method is unknown or does not apply, or no plan fits into the memory.
InplacePlan plan_inplace(const Permutation& permutation, const Means& means);

}  // namespace hocket::kernel
