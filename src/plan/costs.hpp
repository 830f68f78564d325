// SPDX-License-Identifier: BSD-3-Clause
// The predicted cost of strategies by a linear model, and the choice of the cheapest.
#pragma once

#include <memory>
#include <vector>

#include "plan/routing.hpp"

namespace hocket::plan {

/// The cost of a message at each of its ends, and on the links that the processes of a node share.
class Costs {
  public:
    Costs(const Problem& problem, const Model& model);

    /// For a process at either end, in either direction.
    double start(const SideRank& from, const SideRank& to) const {
        return far(from, to) ? model_.far_message : model_.message;
    }
    /// For either end, in one direction. `relayed`: copied at both ends, because it contains
    /// relayed parcels.
    double carry(const SideRank& from, const SideRank& to, std::int64_t elements,
                 bool relayed) const {
        return bytes(elements) *
               ((far(from, to) ? model_.far_byte : model_.byte) + (relayed ? 2 * model_.copy : 0));
    }
    /// Until a process that waits for this message continues.
    double relay(const SideRank& from, const SideRank& to) const;
    /// The number of nodes, and the node of a process: 0 to nodes() - 1.
    std::int64_t nodes() const;
    std::int64_t node(const SideRank& stop) const;
    std::int64_t nodes_of(Side side) const;
    /// Seconds that these elements occupy a node's link, in or out. 0 if the model has no cost of a
    /// byte between nodes, because it then has no links.
    double link(std::int64_t elements) const {
        return knows_links_ ? bytes(elements) * model_.far_byte : 0;
    }
    double bytes(std::int64_t elements) const {
        return static_cast<double>(elements) * static_cast<double>(problem_.options.itemsize);
    }
    const Model& model() const { return model_; }

  private:
    bool far(const SideRank& from, const SideRank& to) const { return node(from) != node(to); }
    const Problem& problem_;
    Model model_;
    bool knows_links_;
    bool sides_apart_;                 // no nodes are named, but each side is a node
    std::vector<std::int64_t> names_;  // of nodes, increasing, as in the problem
};

/// The model does not compute plans with more pairs of processes pair by pair.
inline constexpr std::int64_t most_pairs = std::int64_t{1} << 16;

double predict(const std::shared_ptr<const Problem>& problem, Strategy strategy,
               const Model& model);
/// The strategy with the least predicted time; direct in case of a tie, and for more than
/// `most_pairs`.
Strategy choose(const std::shared_ptr<const Problem>& problem, const Model& model);

}  // namespace hocket::plan
