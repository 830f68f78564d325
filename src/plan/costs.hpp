// SPDX-License-Identifier: BSD-3-Clause
// What a strategy is expected to take, by a linear model, and which one takes least.
#pragma once

#include <memory>

#include "plan/schedule.hpp"

namespace hocket::plan {

/// What one message costs each of its ends.
class Costs {
  public:
    Costs(const Problem& problem, const Model& model);

    /// `relayed`: copied at both ends, as it carries what is passed on.
    double message(const Stop& from, const Stop& to, std::int64_t elements, bool relayed) const;
    /// Until a process that waits for this message goes on.
    double relay(const Stop& from, const Stop& to) const;
    double bytes(std::int64_t elements) const {
        return static_cast<double>(elements) * static_cast<double>(problem_.options.itemsize);
    }
    const Model& model() const { return model_; }

  private:
    bool far(const Stop& from, const Stop& to) const;
    const Problem& problem_;
    Model model_;
    bool sides_apart_;  // no nodes are named, but sides are nodes of their own
};

/// Plans of more pairs of processes are not looked at pair by pair.
inline constexpr std::int64_t most_pairs = std::int64_t{1} << 16;

double predict(const std::shared_ptr<const Problem>& problem, Strategy strategy,
               const Model& model);
/// The strategy that is predicted to take least; direct where several do, and where there are more
/// than `most_pairs`.
Strategy choose(const std::shared_ptr<const Problem>& problem, const Model& model);

}  // namespace hocket::plan
