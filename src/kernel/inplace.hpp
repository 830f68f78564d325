// SPDX-License-Identifier: BSD-3-Clause
// Plans of passes that permute an array within its own memory, chosen by their cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/kernel.hpp"
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

/// The resources of a plan.
struct Resources {
    int threads = 1;          // resolved
    std::int64_t memory = 0;  // bytes beside the array, all threads together
    std::string_view method = "auto";
};

/// The cheapest plan for a permutation whose unit is the byte.
/// @throws Error if the method is unknown or does not apply, or no plan fits into the memory.
InplacePlan plan_inplace(const Permutation& permutation, const Resources& means);
/// One of the last plans, or a new one: a search takes up to 6 ms, as long as a pass over 60 MB.
std::shared_ptr<const InplacePlan> kept_plan(const Permutation& permutation,
                                             const Resources& means);

/// The two halves of permute_inplace. The first half, without an array, raises all errors; the
/// second runs the plan on any array of the shape.
class Inplace {
  public:
    /// @throws as permute_inplace.
    Inplace(std::span<const std::int64_t> shape, std::int64_t itemsize,
            std::span<const std::int64_t> axes, const InplaceOptions& options);

    const Permutation& permutation() const { return permutation_; }
    const Resources& means() const { return means_; }
    const InplacePlan& plan() const { return *plan_; }
    void run(void* array) const;

  private:
    Permutation permutation_;
    LoopSchedule schedule_;
    Resources means_;  // its method is for planning only
    std::shared_ptr<const InplacePlan> plan_;
};

}  // namespace hocket::kernel
