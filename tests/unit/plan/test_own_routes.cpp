// SPDX-License-Identifier: BSD-3-Clause
// The messages that a process finds for itself are those that the whole plan gives it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "../layout/oracle.hpp"
#include "plan/hybrid.hpp"
#include "plan/own_routes.hpp"

using hocket::Layout;
using hocket::Plan;
using hocket::Shape;
using hocket::Side;
using namespace hocket::plan;

namespace {

using Ends = std::tuple<Side, std::int64_t, Side, std::int64_t>;
using Contents = std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>;

Contents contents_of(const std::vector<Parcel>& parcels) {
    Contents contents;
    for (const auto& [source, destination, elements] : parcels)
        contents.emplace_back(source, destination, elements);
    return contents;
}

/// Compares all processes' messages with those of `make_routing`: (phase, ends) -> contents.
void check(const std::shared_ptr<const Problem>& problem, Strategy strategy, std::int64_t stages) {
    SCOPED_TRACE(name_of(strategy) + " stages " + std::to_string(stages) + ": " +
                 problem->source.text() + " -> " + problem->destination.text());
    const Routing routing = make_routing(problem, strategy, stages, false);
    std::map<Ends, std::map<Contents, std::int64_t>> wanted;  // with their phases
    for (const StrategyMessage& message : routing.messages) {
        std::vector<Parcel> parcels;
        for (const std::int32_t number : message.parcels)
            parcels.push_back(routing.parcels[static_cast<std::size_t>(number)]);
        ASSERT_TRUE(
            wanted[Ends(message.from.side, message.from.rank, message.to.side, message.to.rank)]
                .emplace(contents_of(parcels), message.phase)
                .second);
    }
    const std::int64_t rounds = own_rounds(*problem, strategy, stages);
    const std::vector<Parcel> all = all_parcels(problem);
    const std::vector<Parcel>* const listed =
        needs_all_parcels(*problem, strategy) ? &all : nullptr;
    std::set<std::pair<std::int64_t, std::int64_t>> sends, receives;       // (round, process)
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> phases;  // first, last round
    using Parcels = std::pair<std::int64_t, std::int64_t>;                 // their processes
    std::map<Parcels, std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>>> journeys;
    std::size_t found = 0;
    for (const Side side : {Side::source, Side::destination})
        for (std::int64_t rank = 0; rank < problem->form(side).size; ++rank) {
            const SideRank own{side, rank};
            for (const OwnMessage& message : own_routes(problem, strategy, stages, own, listed)) {
                const auto ends = wanted.find(
                    Ends(message.from.side, message.from.rank, message.to.side, message.to.rank));
                ASSERT_NE(ends, wanted.end());
                const auto same = ends->second.find(contents_of(message.parcels));
                ASSERT_NE(same, ends->second.end());
                std::int64_t elements = 0;
                for (const Parcel& parcel : message.parcels) elements += parcel.elements;
                EXPECT_EQ(message.elements, elements);
                ASSERT_TRUE(message.round >= 0 && message.round < rounds);
                const auto process = process_number(*problem, own);
                auto& ports = message.from == own ? sends : receives;
                ASSERT_TRUE(ports.emplace(message.round, process).second);
                for (const Parcel& parcel : message.parcels)
                    journeys[{parcel.source, parcel.destination}][message.round] = {
                        process_number(*problem, message.from),
                        process_number(*problem, message.to)};
                auto& [first, last] =
                    phases.try_emplace(same->second, message.round, message.round).first->second;
                first = std::min(first, message.round);
                last = std::max(last, message.round);
                ++found;
            }
        }
    EXPECT_EQ(found, 2 * routing.messages.size());
    for (const auto& [ends, hops] : journeys) {  // by increasing round
        std::int64_t process = ends.first;
        for (const auto& [round, hop] : hops) {
            ASSERT_EQ(hop.first, process);
            process = hop.second;
        }
        ASSERT_EQ(process, process_number(*problem, {Side::destination, ends.second}));
    }
    if (strategy == Strategy::hybrid) return;  // its phases go on together
    for (auto at = phases.begin(); at != phases.end() && std::next(at) != phases.end(); ++at)
        EXPECT_LT(at->second.second, std::next(at)->second.first);
}

/// The same elements of each process, of one run each, as a list.
Layout listed(const Layout& blocks) {
    std::vector<std::vector<hocket::Segment>> segments;
    for (std::int64_t r = 0; r < blocks.size(); ++r) {
        auto& mine = segments.emplace_back();
        const auto indices = blocks.global_indices(r)[0];
        if (!indices.empty())
            mine.push_back({indices.front(), static_cast<std::int64_t>(indices.size())});
    }
    return Layout::indexed(blocks.shape(), segments);
}

}  // namespace

TEST(OwnRoutes, are_those_of_the_whole_plan) {
    oracle::Random random(5);
    int checked = 0;
    while (checked < 400) {
        const Shape shape = random.shape(static_cast<std::size_t>(random.between(0, 3)));
        const oracle::Model from = random.model(shape, false), to = random.model(shape, false);
        Options options;
        if (random.chance(50)) {
            std::vector<std::int64_t> processes(static_cast<std::size_t>(from.size() + to.size()),
                                                -1);
            std::iota(processes.begin(), processes.begin() + from.size(), 0);
            if (random.chance(50))
                std::shuffle(processes.begin(), processes.end(), random.engine());
            options.overlap.assign(processes.begin(), processes.begin() + to.size());
        }
        std::shared_ptr<const Problem> problem;
        try {
            problem = std::make_shared<const Problem>(from.layout, to.layout, options);
        } catch (const hocket::LayoutError&) {
            continue;  // the source lacks elements
        }
        for (const Strategy strategy :
             {Strategy::centralized, Strategy::staged, Strategy::multistage}) {
            const std::int64_t most = std::max(from.size(), to.size());
            const std::int64_t stages =
                strategy == Strategy::multistage ? 0 : random.between(0, most);
            if (!has_own_routes(problem, strategy, stages)) continue;
            check(problem, strategy, stages);
            if (HasFailure()) return;
            ++checked;
        }
    }
}

TEST(OwnRoutes, more_processes_than_small_layouts_have) {
    for (const auto& [senders, receivers] :
         {std::pair{37, 37}, std::pair{41, 12}, std::pair{12, 41}, std::pair{64, 16}})
        for (const std::int64_t shared : {0, 1}) {
            Options options;
            for (std::int64_t r = 0; r < receivers * shared; ++r)
                options.overlap.push_back(r < senders ? (r * 5) % senders : -1);
            const auto problem = std::make_shared<const Problem>(
                Layout({2000}, "(BLOCK)", {senders}), Layout({2000}, "(CYCLIC(3))", {receivers}),
                options);
            for (const std::int64_t stages : {0, 1, 5, 11, 12})
                check(problem, Strategy::staged, stages);
            check(problem, Strategy::multistage, 0);
            check(problem, Strategy::centralized, 0);
        }
}

/// Whatever processes the sides share, a message has its round for itself, and relays wait.
TEST(OwnRoutes, groups_of_hybrid) {
    oracle::Random random(8);
    for (const auto& [n, m] : {std::pair{4, 2}, std::pair{6, 3}, std::pair{7, 3}, std::pair{13, 4},
                               std::pair{40, 9}, std::pair{64, 16}})
        for (const bool backwards : {false, true})
            for (const int shared : {0, 1, 2}) {
                const std::int64_t senders = backwards ? m : n, receivers = backwards ? n : m;
                Options options;
                if (shared > 0) {
                    std::vector<std::int64_t> large(static_cast<std::size_t>(n));
                    std::iota(large.begin(), large.end(), 0);
                    if (shared == 2) std::shuffle(large.begin(), large.end(), random.engine());
                    options.overlap.assign(static_cast<std::size_t>(receivers), -1);
                    for (std::int64_t b = 0; b < m; ++b) {
                        const std::int64_t a = large[static_cast<std::size_t>(b)];
                        options.overlap[static_cast<std::size_t>(backwards ? a : b)] =
                            backwards ? b : a;
                    }
                }
                const Layout blocks({n * m * 2 + 3}, "(BLOCK)", {senders});
                const auto problem = std::make_shared<const Problem>(
                    n % 2 == 0 ? blocks : listed(blocks),
                    Layout({n * m * 2 + 3}, "(CYCLIC)", {receivers}), options);
                if (make_routing(problem, Strategy::hybrid, 0).phases < 2) continue;
                check(problem, Strategy::hybrid, 0);
                const auto parcels = all_parcels(problem);
                const Routing routing = make_routing(problem, Strategy::hybrid, 0);
                EXPECT_EQ(
                    count_hybrid(*problem, parcels),
                    std::pair(static_cast<std::int64_t>(routing.messages.size()), routing.moved));
                if (shared == 0 && n % m == 0) {
                    EXPECT_EQ(own_rounds(*problem, Strategy::hybrid, 0), m + n / m - 1);
                }
                ASSERT_FALSE(HasFailure()) << senders << " -> " << receivers << " " << shared;
            }
}

/// Beyond the pairs that are listed, hybrid has groups for full traffic, and is direct otherwise.
TEST(OwnRoutes, hybrid_of_ten_thousand_processes) {
    constexpr std::int64_t p = 10000;
    Options options;
    options.strategy = "hybrid";
    const Plan full(Layout({p * p}, "(BLOCK)", {p}), Layout({p * p}, "(CYCLIC)", {p / 10}),
                    options);
    EXPECT_EQ(full.rounds(), p / 10 + 9);
    const auto steps = full.steps(Side::source, p - 1);
    EXPECT_EQ(std::count_if(steps.begin(), steps.end(), [](const Step& step) { return step.send; }),
              p / 10);
    EXPECT_EQ(full.steps(Side::destination, 7).size(), static_cast<std::size_t>(p / 10 + 9));
    options.strategy = "multistage";
    EXPECT_THROW(static_cast<void>(Plan(Layout({p * p}, "(BLOCK)", {p}),
                                        Layout({p * p}, "(CYCLIC)", {p}), options)
                                       .message_count()),
                 hocket::LayoutError);
    options.strategy = "hybrid";
    const Layout blocks({p * p}, "(BLOCK)", {p}), halves({p * p}, "(BLOCK)", {p / 2});
    const Plan sparse(blocks, halves, options);
    EXPECT_EQ(sparse.steps(Side::destination, 7).size(), 2U);
    EXPECT_EQ(sparse.message_count(), p);
    EXPECT_EQ(Plan(blocks, Layout({p * p}, "(CYCLIC)", {p}), options).message_count(), p * p);
}

/// 10^8 pairs of processes exchange elements; each process looks at its own parcels only.
TEST(OwnRoutes, of_ten_thousand_processes) {
    constexpr std::int64_t p = 10000;
    for (const std::string strategy : {"staged", "multistage", "auto"}) {
        Options options;
        options.strategy = strategy;
        options.model = Model{};
        const Plan plan(Layout({p * p}, "(BLOCK)", {p}), Layout({p * p}, "(CYCLIC)", {p}), options);
        EXPECT_EQ(plan.strategy(), strategy == "auto" ? "multistage" : strategy);
        const std::int64_t rank = 7001;
        const auto steps = plan.steps(Side::source, rank);
        const auto cargo = plan.cargo(Side::source, rank);
        ASSERT_EQ(steps.size(), cargo.size());
        std::int64_t held = 0;  // elements of this process, and of others
        for (std::size_t k = 0; k < steps.size(); ++k) {
            ASSERT_TRUE(steps[k].round >= 0 && steps[k].round < plan.rounds());
            held += steps[k].send ? -steps[k].elements : steps[k].elements;
        }
        EXPECT_EQ(held, -p);  // it keeps nothing
        if (plan.strategy() == "multistage") {
            EXPECT_EQ(plan.rounds(), 15);
            EXPECT_EQ(steps.size(), 30U - 1U);
        } else {
            EXPECT_EQ(steps.size(), static_cast<std::size_t>(2 * (p - 1) + 1));
        }
        // The other end of a message has the same parcels.
        const std::size_t k = steps.size() / 2;
        const auto there = plan.steps(steps[k].peer_side, steps[k].peer);
        const auto at = std::find_if(there.begin(), there.end(), [&](const Step& step) {
            return step.round == steps[k].round && step.send != steps[k].send;
        });
        ASSERT_NE(at, there.end());
        EXPECT_EQ(at->peer, rank);
        EXPECT_EQ(plan.cargo(steps[k].peer_side,
                             steps[k].peer)[static_cast<std::size_t>(at - there.begin())],
                  cargo[k]);
    }
}
