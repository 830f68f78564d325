// SPDX-License-Identifier: BSD-3-Clause
// The predicted cost of strategies by a linear model, and the choice of the cheapest.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "plan/routing.hpp"

namespace hocket::plan {

/// The cost of a message at each of its ends, and on the links that the processes of a node share.
class Costs {
  public:
    Costs(const Problem& problem, const Model& model);

    bool far(const SideRank& from, const SideRank& to) const { return node(from) != node(to); }
    /// For a process at either end, in either direction. `far`: between nodes.
    double start(bool far) const { return far ? model_.far_message : model_.message; }
    /// For either end, in one direction. `relayed`: copied at both ends, because it contains
    /// relayed parcels.
    double carry(bool far, double elements, bool relayed) const {
        return bytes(elements) *
               ((far ? model_.far_byte : model_.byte) + (relayed ? 2 * model_.copy : 0));
    }
    /// Until a process that waits for this message continues.
    double relay(const SideRank& from, const SideRank& to) const;
    /// The number of nodes, and the node of a process: 0 to nodes() - 1.
    std::int64_t nodes() const { return nodes_; }
    std::int64_t node(const SideRank& stop) const {
        const auto& nodes = stop.side == Side::source ? source_ : destination_;
        if (nodes.empty()) return sides_apart_ && stop.side == Side::destination ? 1 : 0;
        return nodes[static_cast<std::size_t>(stop.rank)];
    }
    /// The processes of its side on the node of a process, itself included.
    double mates(const SideRank& stop) const;
    /// Whether each side is on one node.
    bool whole_nodes() const;
    /// Seconds that these elements occupy a node's link, in or out. 0 if the model has no cost of a
    /// byte between nodes, because it then has no links.
    double link(double elements) const {
        return knows_links_ ? bytes(elements) * model_.far_byte : 0;
    }
    double bytes(double elements) const {
        return elements * static_cast<double>(problem_.options.itemsize);
    }
    const Model& model() const { return model_; }

  private:
    const Problem& problem_;
    Model model_;
    bool knows_links_;
    bool sides_apart_;  // no nodes are named, but each side is a node
    std::int64_t nodes_;
    std::vector<std::int64_t> source_,
        destination_;  // the node of each process, if there are names
    std::vector<double> source_mates_, destination_mates_;  // the processes of each node
};

/// The predicted seconds of each of `strategies`. A stage takes as long as its slowest process or
/// link. For up to `most_messages` messages (of the direct strategy) the model adds up messages,
/// otherwise sums of processes. Lists and boxes have no periods to sum over: there it adds up
/// messages to `most_of_lists`, but for hybrid. `choose` adds up the rounds of hybrid for more than
/// `most_rounds` messages only if a formula finds it the fastest.
std::array<double, strategies.size()> predict(const std::shared_ptr<const Problem>& problem,
                                              const Model& model);
inline constexpr std::int64_t most_messages = std::int64_t{1} << 16;
inline constexpr std::int64_t most_of_lists = std::int64_t{1} << 20;
inline constexpr std::int64_t most_rounds = std::int64_t{1} << 12;

/// The strategy with the least predicted time; direct in case of a tie. For more than
/// `most_messages` pairs of processes, only strategies whose messages each process can find without
/// those of the others (`has_own_routes`), and hybrid only between grids if each side is on one
/// node; direct for lists of more than `most_of_lists` messages.
Strategy choose(const std::shared_ptr<const Problem>& problem, const Model& model);

}  // namespace hocket::plan
