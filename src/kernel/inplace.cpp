// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/inplace.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.hpp"
#include "hocket/error.hpp"
#include "kernel/costs.hpp"
#include "kernel/inplace_steps.hpp"
#include "kernel/kept.hpp"
#include "kernel/stream.hpp"

namespace hocket::kernel {
namespace {

/// Searches the cheapest plan that fits the memory, and remembers the least memory of any plan.
class Planner {
  public:
    explicit Planner(const Resources& means) : means_(means) {}

    std::optional<InplacePlan> plan(const Permutation& permutation) {
        std::optional<InplacePlan> best = plan_step(permutation);
        // All other plans move the array three times or more.
        if (best && best->cost() <= 2.0) return best;
        consider_reductions(best, permutation);
        consider_row_orders(best, permutation);
        return best;
    }

    std::optional<InplacePlan> plan_by(const Permutation& permutation, std::string_view method) {
        std::optional<InplacePlan> best;
        if (permutation.identity()) return InplacePlan{};
        if (method == "cycles") consider(best, {{cycles_step(permutation, means_, true)}});
        if (method == "slab") consider(best, {{slab_step(permutation, means_)}});
        if (method == "square")
            if (auto step = square_step(permutation, means_)) consider(best, {{std::move(*step)}});
        if (method == "tiles") {
            if (auto step = tiles_step(permutation, means_)) consider(best, {{std::move(*step)}});
            if (auto step = trimmed_step(permutation, means_)) consider(best, {{std::move(*step)}});
        }
        if (method == "panels") {
            consider_splits(best, permutation);
            if (auto step = shifted_step(permutation, means_)) consider(best, {{std::move(*step)}});
            if (auto step = ringed_step(permutation, means_)) consider(best, {{std::move(*step)}});
            if (auto step = grouped_step(permutation, means_)) consider(best, {{std::move(*step)}});
            consider_reductions(best, permutation);
        }
        return best;
    }

    std::int64_t least_memory() const { return least_memory_; }

  private:
    /// The cheapest plan of one step.
    std::optional<InplacePlan> plan_step(const Permutation& permutation) {
        if (permutation.identity()) return InplacePlan{};
        std::optional<InplacePlan> best;
        consider(best, {{slab_step(permutation, means_)}});
        if (auto step = square_step(permutation, means_)) consider(best, {{std::move(*step)}});
        consider(best, {{cycles_step(permutation, means_, false)}});
        // All other plans move the array twice or more.
        if (best && (best->cost() <= 1.6 || quick_in_cache(permutation, *best))) return best;
        if (auto step = tiles_step(permutation, means_)) consider(best, {{std::move(*step)}});
        consider_splits(best, permutation);
        if (auto step = shifted_step(permutation, means_)) consider(best, {{std::move(*step)}});
        // Their costs are those of arrays beyond the caches.
        if (!fits_cache(permutation)) {
            if (auto step = ringed_step(permutation, means_)) consider(best, {{std::move(*step)}});
            if (auto step = grouped_step(permutation, means_)) consider(best, {{std::move(*step)}});
        }
        if (best && best->cost() <= 2.0) return best;
        if (auto step = trimmed_step(permutation, means_)) consider(best, {{std::move(*step)}});
        return best;
    }

    bool fits(std::int64_t memory) {
        if (memory <= means_.memory) return true;
        least_memory_ = std::min(least_memory_, memory);
        return false;
    }

    /// Whether one pass over an array in the second-level cache takes less time than two, which the
    /// costs of passes beyond that cache do not tell. Several threads share two passes better than
    /// one slab, unless that is small. (Measured on a core that fetches into its first level; the
    /// slab of a tensor of single bytes may take longer.)
    bool quick_in_cache(const Permutation& permutation, const InplacePlan& one_pass) const {
        constexpr double slab_of_pairs = 4.0;
        const std::int64_t bytes = permutation.batch * permutation.blocks() * permutation.block;
        return distances().fetching == Fetching::first_level &&
               bytes * std::min(means_.threads, 2) < least_streamed_bytes() / 2 &&
               one_pass.cost() <= slab_of_pairs;
    }

    void consider(std::optional<InplacePlan>& best, InplacePlan plan) {
        if (!std::isfinite(plan.cost())) return;
        if (best && plan.cost() >= best->cost()) return;
        if (fits(plan.memory())) best = std::move(plan);
    }

    void consider_splits(std::optional<InplacePlan>& best, const Permutation& permutation) {
        constexpr std::int64_t longest_block = 16 << 10;
        for (const bool gather_first : {true, false}) {
            Split split(permutation, gather_first);
            std::int64_t cheapest = 0;
            double cost = best ? best->cost() : INFINITY;
            const std::int64_t most =
                std::min(split.panels.extent / 2, longest_block / permutation.block);
            for (split.panels.width = 2; split.panels.width <= most; ++split.panels.width) {
                if (split.cost() >= cost || !fits(split.memory(means_))) continue;
                cheapest = split.panels.width;
                cost = split.cost();
            }
            if (cheapest == 0) continue;
            split.panels.width = cheapest;
            consider(best, {{split.step(means_)}});
        }
    }

    void consider_reductions(std::optional<InplacePlan>& best, const Permutation& permutation) {
        if (permutation.dimensions() < 3) return;
        for (const bool gather_first : {true, false}) {
            const Sequence sequence = reduce(permutation, gather_first);
            consider(best, plan(sequence.first), plan(sequence.then));
        }
    }

    /// Rows of the source move along cycles first, or those of the result last, if that costs less
    /// by more than costs are uncertain.
    void consider_row_orders(std::optional<InplacePlan>& best, const Permutation& permutation) {
        constexpr double least_rest = 0.5, certain = 0.95;
        for (std::size_t columns = 2; columns < permutation.dimensions(); ++columns)
            for (const bool rows_first : {true, false}) {
                const auto [rows, rest] =
                    order_rows(rows_first ? permutation : inverse(permutation), columns);
                if (rows.identity()) continue;
                InplacePlan of_rows{
                    {cycles_step(rows_first ? rows : inverse(rows), means_, false)}};
                const double most = best ? certain * best->cost() : INFINITY;
                if (of_rows.cost() + least_rest >= most) continue;
                auto of_rest = plan_step(rows_first ? rest : inverse(rest));
                if (!of_rest || of_rows.cost() + of_rest->cost() >= most) continue;
                if (rows_first)
                    consider(best, std::move(of_rows), std::move(of_rest));
                else
                    consider(best, std::move(of_rest), std::move(of_rows));
            }
    }

    void consider(std::optional<InplacePlan>& best, std::optional<InplacePlan> first,
                  std::optional<InplacePlan> then) {
        if (!first || !then) return;
        std::move(then->steps.begin(), then->steps.end(), std::back_inserter(first->steps));
        consider(best, std::move(*first));
    }

    const Resources& means_;
    std::int64_t least_memory_ = INT64_MAX;
};

}  // namespace

double InplacePlan::cost() const {
    double sum = 0;
    for (const Step& step : steps) sum += step.cost;
    return sum;
}

std::int64_t InplacePlan::memory() const {
    std::int64_t most = 0;
    for (const Step& step : steps) most = std::max(most, step.memory);
    return most;
}

InplacePlan plan_inplace(const Permutation& permutation, const Resources& means) {
    const std::vector<std::string> known{"auto", "cycles", "slab", "square", "tiles", "panels"};
    const std::string method(means.method);
    if (std::find(known.begin(), known.end(), method) == known.end())
        throw Error("unknown method '" + method + "'" + text::did_you_mean(method, known) +
                    "; there are " + text::quoted_list(known));
    Planner planner(means);
    auto plan = method == "auto" ? planner.plan(permutation) : planner.plan_by(permutation, method);
    if (plan) return std::move(*plan);
    const std::string what = permutation.text() + " blocks of " +
                             std::to_string(permutation.block) + " bytes on " +
                             std::to_string(means.threads) + " threads";
    if (planner.least_memory() == INT64_MAX)
        throw Error("method '" + method + "' does not apply to " + what +
                    (method == "square" ? ", which is no square"
                     : method == "tiles"
                         ? ", whose fastest dimensions, of source and result, have no "
                           "common divisor that is small enough for tiles (tiles without one need "
                           "longer dimensions, or a larger cap)"
                         : ", whose extents are too short") +
                    "; use method 'auto'");
    throw Error("permuting " + what + " in place by method '" + method + "' needs " +
                std::to_string(planner.least_memory()) + " bytes beside the array, and may use " +
                std::to_string(means.memory) + "; raise the cap, use fewer threads" +
                (method == "auto" ? "" : ", use method 'auto'") + ", or permute out of place");
}

std::shared_ptr<const InplacePlan> kept_plan(const Permutation& permutation,
                                             const Resources& means) {
    struct Key {
        Permutation permutation;
        int threads = 0;
        std::int64_t memory = 0;
        std::string method{};
        bool operator==(const Key&) const = default;
    };
    static Kept<Key, InplacePlan> kept;
    const auto plan = [&] {
        return std::make_shared<const InplacePlan>(plan_inplace(permutation, means));
    };
    if (on_trial()) return plan();
    Key key{permutation, means.threads, means.memory, std::string(means.method)};
    auto found = kept.find(key);
    if (!found) kept.keep(std::move(key), found = plan());
    return found;
}

}  // namespace hocket::kernel
