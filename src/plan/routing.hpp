// SPDX-License-Identifier: BSD-3-Clause
// The messages of strategies with relays: their parcels and their rounds.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hocket/plan.hpp"
#include "plan/problem.hpp"

namespace hocket::plan {

enum class Strategy { direct, centralized, staged, multistage, hybrid };
inline constexpr std::array<Strategy, 5> strategies{Strategy::direct, Strategy::centralized,
                                                    Strategy::staged, Strategy::multistage,
                                                    Strategy::hybrid};
const std::string& name_of(Strategy strategy);
/// The strategy with that name; none for "auto". @throws LayoutError
std::optional<Strategy> strategy_of(const std::string& name);
/// @throws LayoutError if the strategy has no `stages`, or if there are too many.
void check_stages(std::optional<Strategy> strategy, std::int64_t stages, std::int64_t senders,
                  std::int64_t receivers);

/// A process of one side.
struct SideRank {
    Side side;
    std::int64_t rank;
    friend bool operator==(const SideRank&, const SideRank&) = default;
};

/// A parcel's hop from one process to the next. Hops of a later phase may wait for those of earlier
/// ones.
struct Hop {
    static constexpr std::int64_t latest = 64;  ///< later than any phase of a larger sending side
    std::int64_t phase;
    SideRank from, to;
};

struct StrategyMessage {
    std::int64_t round, phase;
    SideRank from, to;
    std::int64_t elements;
    std::vector<std::int32_t> parcels;  ///< increasing, in Routing::parcels
};

/// All messages of a plan. It depends on the plan only, so it is the same on every process.
struct Routing {
    std::vector<Parcel> parcels;  ///< by source, then destination; without elements that stay
    std::vector<StrategyMessage> messages;
    std::int64_t rounds = 0, phases = 0, moved = 0;
};

/// If the sides share processes, a route may return to a process; removes these loops.
std::vector<Hop> without_loops(const Problem& problem, std::vector<Hop> hops);

/// All parcels of a plan. @throws LayoutError if there are more than 2^24.
std::vector<Parcel> all_parcels(const std::shared_ptr<const Problem>& problem);

/// For any strategy but direct. Without `rounds` the messages have phases only, which cost less to
/// find (those of hybrid have both).
Routing make_routing(const std::shared_ptr<const Problem>& problem, Strategy strategy,
                     std::int64_t stages, bool rounds = true);

/// A number for each process, the same for a process on both sides.
std::int64_t process_number(const Problem& problem, const SideRank& stop);

/// Joins parcels with the same hop to one message, in the order of phases. `hops`: each with the
/// number of its parcel.
struct ParcelHop {
    Hop hop;
    std::int32_t parcel;
};
void add_messages(Routing& routing, const Problem& problem, std::vector<ParcelHop> hops);

/// Gives each message a round: one phase after the other, each in as few rounds as possible.
void assign_rounds(Routing& routing, const Problem& problem);

}  // namespace hocket::plan
