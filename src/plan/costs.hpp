// SPDX-License-Identifier: BSD-3-Clause
// What a strategy is expected to take, by a linear model, and which one takes least.
#pragma once

#include <memory>
#include <vector>

#include "plan/schedule.hpp"

namespace hocket::plan {

/// What one message costs each of its ends, and the links that the processes of a node share.
class Costs {
  public:
    Costs(const Problem& problem, const Model& model);

    /// Of a process at either end, whichever way the message goes.
    double start(const SideRank& from, const SideRank& to) const {
        return far(from, to) ? model_.far_message : model_.message;
    }
    /// Of either end, one way. `relayed`: copied at both, as it carries what is passed on.
    double carry(const SideRank& from, const SideRank& to, std::int64_t elements,
                 bool relayed) const {
        return bytes(elements) *
               ((far(from, to) ? model_.far_byte : model_.byte) + (relayed ? 2 * model_.copy : 0));
    }
    /// Until a process that waits for this message goes on.
    double relay(const SideRank& from, const SideRank& to) const;
    /// How many nodes there are, and which one a process is on: 0 to nodes() - 1.
    std::int64_t nodes() const;
    std::int64_t node(const SideRank& stop) const;
    std::int64_t nodes_of(Side side) const;
    /// How long a node's link, the way out or the way in, is taken by these elements. 0 where the
    /// model knows no cost of a byte between nodes: then nothing says that there is such a link.
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
    bool sides_apart_;                 // no nodes are named, but sides are nodes of their own
    std::vector<std::int64_t> names_;  // of nodes, increasing, as the problem has them
};

/// Plans of more pairs of processes are not looked at pair by pair.
inline constexpr std::int64_t most_pairs = std::int64_t{1} << 16;

double predict(const std::shared_ptr<const Problem>& problem, Strategy strategy,
               const Model& model);
/// The strategy that is predicted to take least; direct where several do, and where there are more
/// than `most_pairs`.
Strategy choose(const std::shared_ptr<const Problem>& problem, const Model& model);

}  // namespace hocket::plan
