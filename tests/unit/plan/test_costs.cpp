// SPDX-License-Identifier: BSD-3-Clause
// The model's messages and sums against those of all pairs; predictions for many processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "../layout/oracle.hpp"
#include "plan/butterfly_loads.hpp"
#include "plan/costs.hpp"
#include "plan/parcels.hpp"
#include "plan/phases.hpp"
#include "plan/sums.hpp"

using hocket::Layout;
using hocket::Shape;
using hocket::Side;
using namespace hocket::plan;

namespace {

using Shared = std::shared_ptr<const Problem>;

Shared problem_of(const Layout& source, const Layout& destination, Options options = {}) {
    return std::make_shared<const Problem>(source, destination, std::move(options));
}

/// Random layouts; all or none of the processes of the smaller side are on the other, in any order.
Shared random_problem(oracle::Random& random) {
    for (;;) {
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
        try {
            return problem_of(from.layout, to.layout, std::move(options));
        } catch (const hocket::LayoutError&) {
            continue;  // the source lacks elements
        }
    }
}

/// (from, to) of every message of a phase: its elements, and whether it has relayed ones.
using Messages =
    std::map<std::tuple<Side, std::int64_t, Side, std::int64_t>, std::pair<std::int64_t, bool>>;

Messages::key_type key_of(const SideRank& from, const SideRank& to) {
    return {from.side, from.rank, to.side, to.rank};
}

std::vector<Messages> routed(const Shared& problem, Strategy strategy, std::int64_t stages) {
    const Routing routing = make_routing(problem, strategy, stages, false);
    std::vector<Messages> phases(static_cast<std::size_t>(routing.phases));
    for (const StrategyMessage& message : routing.messages) {
        bool relayed = message.from.side == message.to.side;
        for (const std::int32_t number : message.parcels) {
            const Parcel& parcel = routing.parcels[static_cast<std::size_t>(number)];
            relayed = relayed || parcel.source != message.from.rank ||
                      parcel.destination != message.to.rank;
        }
        phases[static_cast<std::size_t>(message.phase)][key_of(message.from, message.to)] = {
            message.elements, relayed};
    }
    return phases;
}

std::vector<Messages> modelled(const Shared& problem, Strategy strategy, std::int64_t stages) {
    const auto parcels = *parcels_up_to(problem, hocket::base::max_size);
    std::map<std::int64_t, Messages> phases;
    std::int64_t before = -1;
    PhaseMessages(*problem, parcels).run(strategy, stages, [&](const PhaseMessage& message) {
        if (message.phase != before) {
            EXPECT_FALSE(phases.contains(message.phase));
        }
        before = message.phase;
        EXPECT_TRUE(phases[before]
                        .emplace(key_of(message.from, message.to),
                                 std::pair(message.elements, message.relayed))
                        .second);
    });
    std::vector<Messages> found;
    for (auto& [phase, messages] : phases) found.push_back(std::move(messages));
    return found;
}

double seconds(const Shared& problem, Strategy strategy, const Model& model) {
    return predict(problem, model)[static_cast<std::size_t>(strategy)];
}

}  // namespace

TEST(Costs, parcels_are_the_traffic_of_all_processes) {
    oracle::Random random(3);
    for (int round = 0; round < 300; ++round) {
        const Shared problem = random_problem(random);
        const hocket::Plan plan(problem->source, problem->destination, problem->options);
        std::vector<Parcel> wanted;
        for (std::int64_t s = 0; s < problem->source.size(); ++s)
            for (const Traffic& peer : plan.sends(s))
                if (plan.same_process(peer.process) != s)
                    wanted.push_back({s, peer.process, peer.elements});
        const auto count = static_cast<std::int64_t>(wanted.size());
        ASSERT_EQ(parcels_up_to(problem, count), wanted) << plan.source().text();
        ASSERT_TRUE(count == 0 || !parcels_up_to(problem, count - 1));
    }
}

/// Beyond 65536 pairs too, a list costs what the same blocks of a grid cost.
TEST(Costs, lists_cost_what_grids_cost) {
    constexpr std::int64_t p = 300, n = 40 * p;
    Model model;
    model.far_message = 2e-5;
    model.far_byte = 4e-10;
    model.far_relay = 1e-5;
    for (const bool same : {false, true}) {
        Options options;
        options.same_ranks = same;
        for (std::int64_t r = 0; same && r < p; ++r) {
            options.source_nodes.push_back(r / 16);
            options.destination_nodes.push_back(r / 16);
        }
        std::vector<std::vector<hocket::Segment>> segments;
        for (std::int64_t r = 0; r < p; ++r) segments.push_back({{r * 40, 40}});
        const Layout list = Layout::indexed({n}, segments), grid({n}, "(BLOCK)", {p});
        for (const char* dist : {"(CYCLIC)", "(CYCLIC(3))", "(BLOCK(41))"}) {
            const Layout other({n}, dist, {p});
            const auto wanted =
                predict(std::make_shared<const Problem>(grid, other, options), model);
            const auto to = predict(std::make_shared<const Problem>(list, other, options), model);
            EXPECT_EQ(to, wanted) << dist;
            const auto back = predict(std::make_shared<const Problem>(other, list, options), model);
            EXPECT_EQ(back, predict(std::make_shared<const Problem>(other, grid, options), model))
                << dist;
            const auto chosen = [&](const Layout& from) {
                return choose(std::make_shared<const Problem>(from, other, options), model);
            };
            EXPECT_EQ(chosen(list), chosen(grid)) << dist;
        }
    }
}

TEST(Costs, the_model_has_the_messages_of_the_routes) {
    oracle::Random random(4);
    for (int round = 0; round < 300; ++round) {
        const Shared problem = random_problem(random);
        const std::int64_t most = std::max(problem->source.size(), problem->destination.size());
        for (const Strategy strategy :
             {Strategy::centralized, Strategy::staged, Strategy::multistage}) {
            const std::int64_t stages =
                strategy == Strategy::multistage ? 0 : random.between(0, most);
            ASSERT_EQ(modelled(problem, strategy, stages), routed(problem, strategy, stages))
                << name_of(strategy) << " " << stages << " " << problem->source.text() << " -> "
                << problem->destination.text();
        }
    }
}

TEST(Costs, sums_are_those_of_all_pairs) {
    const Shape shape{60, 48};
    const std::vector<Layout> layouts{
        Layout(shape, "(BLOCK,CYCLIC(5))", {3, 4}), Layout(shape, "(CYCLIC(7),*)", {11}),
        Layout(shape, "(BALANCED,BLOCK)", {8, 2}), Layout(shape, "(*,CYCLIC)", {7}),
        Layout(shape, "(BLOCK,CYCLIC(2))", {4, 2})
            .relabeled(std::vector<std::int64_t>{3, 1, 4, 0, 5, 8, 2, 6})};
    for (const Layout& from : layouts)
        for (const Layout& to : layouts) {
            Options options;
            for (std::int64_t r = 0; r < from.size(); ++r) options.source_nodes.push_back(r / 2);
            for (std::int64_t r = 0; r < to.size(); ++r) options.destination_nodes.push_back(r / 3);
            for (const bool nodes : {false, true}) {
                const Shared problem = problem_of(from, to, nodes ? options : Options{});
                const Costs costs(*problem, {});
                const Sums sums(problem, costs);
                const std::vector<Parcel> parcels = *parcels_up_to(problem, 1 << 20);
                std::map<std::pair<Side, std::int64_t>, Ends> wanted;
                for (const auto& [s, d, elements] : parcels)
                    for (const SideRank& stop :
                         {SideRank{Side::source, s}, SideRank{Side::destination, d}}) {
                        Ends& ends = wanted[{stop.side, stop.rank}];
                        const bool far = costs.far({Side::source, s}, {Side::destination, d});
                        (far ? ends.far_messages : ends.near_messages) += 1;
                        (far ? ends.far_elements : ends.near_elements) +=
                            static_cast<double>(elements);
                    }
                double near = 0, all = 0, wanted_near = 0;
                for (const Side side : {Side::source, Side::destination}) {
                    ASSERT_EQ(static_cast<std::int64_t>(sums.of(side).size()),
                              problem->form(side).size);
                    for (const Sums::Sample& sample : sums.of(side)) {
                        const Ends& ends = wanted[{side, sample.rank}];
                        EXPECT_NEAR(sample.messages(), ends.near_messages + ends.far_messages,
                                    1e-9);
                        EXPECT_NEAR(sample.elements(), ends.near_elements + ends.far_elements,
                                    1e-6);
                        near += sample.ends.near_elements;
                        wanted_near += ends.near_elements;
                        all += sample.elements();
                    }
                }
                EXPECT_NEAR(near / all, wanted_near / all, 1e-9);
            }
        }
}

TEST(Costs, predictions_from_sums_are_close_to_those_from_messages) {
    Model model;
    model.far_message = 2e-5;
    model.far_byte = 4e-10;
    model.far_relay = 1e-5;
    for (const auto& [senders, receivers] :
         {std::pair{64, 64}, std::pair{96, 32}, std::pair{32, 96}, std::pair{250, 40}}) {
        for (const bool apart : {false, true}) {
            Options options;
            for (int r = 0; r < senders; ++r) options.source_nodes.push_back(r / 8);
            for (int r = 0; r < receivers; ++r)
                options.destination_nodes.push_back(r / 8 + (apart ? 1000 : 0));
            const Shared problem =
                problem_of(Layout({1500, 960}, "(BLOCK,*)", {senders}),
                           Layout({1500, 960}, "(*,CYCLIC(3))", {receivers}), options);
            const Costs costs(*problem, model);
            const Sums sums(problem, costs);
            for (const Strategy strategy : {Strategy::direct, Strategy::centralized,
                                            Strategy::staged, Strategy::multistage}) {
                const double from_messages = seconds(problem, strategy, model);
                EXPECT_NEAR(predict_from(sums, *problem, costs, strategy, 0) / from_messages, 1,
                            0.25)
                    << name_of(strategy) << " " << senders << " -> " << receivers;
            }
        }
    }
}

/// Each side on one node: what the sums of processes give is what all pairs give.
TEST(Costs, sums_predict_what_messages_do) {
    oracle::Random random(9);
    Model model;
    model.far_message = 2e-5;
    model.far_byte = 4e-10;
    model.far_relay = 1e-5;
    int checked = 0, exact = 0;
    while (checked < 300) {
        const Shape shape = random.shape(static_cast<std::size_t>(random.between(1, 3)));
        const oracle::Model from = random.model(shape, false), to = random.model(shape, false);
        if (!from.layout.form().gridded() || !to.layout.form().gridded()) continue;
        if (from.layout.form().copies > 1) continue;
        Shared problem;
        try {
            problem = problem_of(from.layout, to.layout);
        } catch (const hocket::LayoutError&) {
            continue;  // the source lacks elements
        }
        ++checked;
        const Costs costs(*problem, model);
        const Sums sums(problem, costs);
        if (!sums.complete() || to.layout.form().copies > 1) continue;
        ++exact;
        for (const Strategy strategy : {Strategy::direct, Strategy::staged, Strategy::multistage}) {
            const double wanted = seconds(problem, strategy, model);
            EXPECT_NEAR(predict_from(sums, *problem, costs, strategy, 0), wanted, 1e-9 * wanted)
                << name_of(strategy) << ": " << problem->source.text() << " -> "
                << problem->destination.text();
        }
        ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(exact, 100);
}

/// Classes of equal pairs give each message of the butterfly.
TEST(Costs, classes_predict_multistage_as_messages_do) {
    oracle::Random random(10);
    Model model;
    model.far_message = 2e-5;
    model.far_byte = 4e-10;
    model.far_relay = 1e-5;
    int exact = 0;
    for (int round = 0; round < 200; ++round) {
        const std::int64_t p = random.between(1, 40),
                           q = round % 2 == 0 ? p : random.between(1, 40);
        const std::int64_t n = random.between(1, 60), k = random.between(1, 4);
        const Layout rows({n, n + 3}, "(BLOCK,*)", {p}),
            columns({n, n + 3}, "(*,CYCLIC(" + std::to_string(k) + "))", {q}),
            blocks({n * 7, 1}, "(BLOCK,*)", {p}),
            rounds({n * 7, 1}, "(CYCLIC(" + std::to_string(k) + "),*)", {q});
        Options options;
        options.same_ranks = round % 4 == 0;
        for (std::int64_t r = 0; r < p; ++r) options.source_nodes.push_back(r / 5);
        for (std::int64_t r = 0; r < q; ++r)
            options.destination_nodes.push_back(r / 5 + (options.same_ranks ? 0 : round % 3 * 9));
        const bool plane = random.chance(50);
        const Shared problem = problem_of(plane ? rows : blocks, plane ? columns : rounds, options);
        if (!butterfly_loads(*problem)) continue;
        ++exact;
        const Costs costs(*problem, model);
        const double wanted = seconds(problem, Strategy::multistage, model);
        EXPECT_NEAR(predict_from(Sums(problem, costs), *problem, costs, Strategy::multistage, 0),
                    wanted, 1e-9 * wanted)
            << problem->source.text() << " -> " << problem->destination.text();
    }
    EXPECT_GT(exact, 150);
}

/// 10^8 pairs of processes: the model adds up one table of each dimension.
TEST(Costs, ten_thousand_processes_to_ten_thousand) {
    constexpr std::int64_t p = 10000;
    const Model model;
    const Layout rows({2 * p, 2 * p}, "(BLOCK,*)", {p}), columns({2 * p, 2 * p}, "(*,BLOCK)", {p});
    const Shared full = problem_of(rows, columns);
    // Each process sends 10^4 messages, and its share of the array.
    const double bytes = 8.0 * 4 * p, all = bytes * p;
    EXPECT_NEAR(seconds(full, Strategy::direct, model), p * model.message + bytes * model.byte,
                1e-9);
    EXPECT_NEAR(seconds(full, Strategy::centralized, model),
                2 * p * model.message + 2 * all * (model.byte + 2 * model.copy) + model.relay,
                2 * (bytes * (model.byte + 2 * model.copy) + model.message));
    EXPECT_NEAR(seconds(full, Strategy::staged, model),
                2 * p * model.message + model.relay + model.message +
                    2 * bytes * (model.byte + 2 * model.copy),
                1e-5);
    const double phase =
        2 * model.message + model.relay + bytes / 2 * (model.byte + 2 * model.copy);
    EXPECT_NEAR(seconds(full, Strategy::multistage, model) / (14 * phase), 1, 0.1);
    // Few messages a process: a block of one side is two blocks of the other.
    const Shared sparse =
        problem_of(Layout({p * p}, "(BLOCK)", {p}), Layout({p * p}, "(BLOCK)", {p / 2}));
    EXPECT_NEAR(seconds(sparse, Strategy::direct, model),
                2 * model.message + 8.0 * 2 * p * model.byte, 1e-9);
    EXPECT_EQ(choose(sparse, model), Strategy::direct);
    // The longest of unequal blocks counts, wherever it is.
    std::vector<std::int64_t> lengths(p, 1);
    lengths[7777] = 1000000;
    const Shared uneven =
        problem_of(Layout({p - 1 + 1000000}, {hocket::Format::gen_block(lengths)}, {p}),
                   Layout({p - 1 + 1000000}, "(CYCLIC)", {p}));
    EXPECT_NEAR(seconds(uneven, Strategy::direct, model),
                p * model.message + 8.0 * 1000000 * model.byte, 1e-9);
    // Lists have no tables; the model looks at the parts of some processes.
    std::vector<std::vector<hocket::Segment>> segments(p);
    for (std::int64_t r = 0; r < p; ++r) segments[static_cast<std::size_t>(r)] = {{r * p, p}};
    const Shared lists =
        problem_of(Layout::indexed({p * p}, segments), Layout({p * p}, "(CYCLIC(10))", {p}));
    EXPECT_NEAR(seconds(lists, Strategy::direct, model),
                1000 * model.message + 8.0 * p * model.byte, 1e-7);
}
