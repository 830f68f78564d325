// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "../layout/oracle.hpp"
#include "hocket/plan.hpp"

using hocket::Layout;
using hocket::LayoutError;
using hocket::Plan;
using hocket::Shape;
using hocket::Side;
using hocket::plan::Box;
using hocket::plan::Loop;
using hocket::plan::Part;
using hocket::plan::Traffic;

namespace {

std::int64_t flatten(const Shape& index, const Shape& shape) {
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        EXPECT_GE(index[d], 0);
        EXPECT_LT(index[d], shape[d]);
        flat = flat * shape[d] + index[d];
    }
    return flat;
}

void walk(const Box& box, std::size_t level, Shape& source, Shape& destination,
          const std::function<void()>& visit) {
    if (level == box.loops.size()) {
        visit();
        return;
    }
    const Loop& loop = box.loops[level];
    EXPECT_GT(loop.extent, 1);
    const auto s = static_cast<std::size_t>(loop.source_dimension);
    const auto d = static_cast<std::size_t>(loop.destination_dimension);
    const std::int64_t at_source = source[s], at_destination = destination[d];
    for (std::int64_t i = 0; i < loop.extent; ++i) {
        source[s] = at_source + i * loop.source_step;
        destination[d] = at_destination + i * loop.destination_step;
        walk(box, level + 1, source, destination, visit);
    }
    source[s] = at_source;
    destination[d] = at_destination;
}

bool equal(const Box& a, const Box& b) {
    return a.source_first == b.source_first && a.destination_first == b.destination_first &&
           std::equal(a.loops.begin(), a.loops.end(), b.loops.begin(), b.loops.end(),
                      [](const Loop& x, const Loop& y) {
                          return x.extent == y.extent && x.source_dimension == y.source_dimension &&
                                 x.source_step == y.source_step &&
                                 x.destination_dimension == y.destination_dimension &&
                                 x.destination_step == y.destination_step;
                      });
}

/// The element of the source (its flat number) that each element of the destination is.
std::vector<std::int64_t> origin(const Shape& source, const Shape& destination,
                                 const std::vector<std::int64_t>& axes) {
    std::int64_t elements = 1;
    for (const std::int64_t n : destination) elements *= n;
    std::vector<std::int64_t> result;
    for (std::int64_t flat = 0; flat < elements; ++flat) {
        const Shape index = oracle::unflatten(flat, destination);
        Shape from(index.size());
        for (std::size_t j = 0; j < axes.size(); ++j)
            from[static_cast<std::size_t>(axes[j])] = index[j];
        result.push_back(flatten(from, source));
    }
    return result;
}

/// Runs the plan on arrays whose values are the global numbers, through both sides' parts.
void check(const oracle::Model& from, const oracle::Model& to, hocket::plan::Options options) {
    const Layout &source = from.layout, &destination = to.layout;
    SCOPED_TRACE(source.text() + " copies " + std::to_string(source.form().copies) + " -> " +
                 destination.text());
    if (options.axes.empty())
        for (std::size_t d = 0; d < source.dimensions(); ++d)
            options.axes.push_back(static_cast<std::int64_t>(d));
    const std::vector<std::int64_t> origins =
        origin(source.shape(), destination.shape(), options.axes);
    std::set<std::int64_t> there;
    for (const auto& each : from.held) there.insert(each.begin(), each.end());
    for (const auto& each : to.held)
        for (const std::int64_t flat : each)
            if (!there.count(origins[static_cast<std::size_t>(flat)])) {
                EXPECT_THROW(Plan(source, destination, options), LayoutError);
                return;
            }
    const Plan plan(source, destination, options);

    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sent, received;
    std::vector<Part> senders;
    std::vector<std::vector<std::int64_t>> held;
    std::vector<std::int64_t> load(static_cast<std::size_t>(source.size()), 0);
    for (std::int64_t s = 0; s < source.size(); ++s) {
        held.push_back(from.held[static_cast<std::size_t>(s)]);
        senders.push_back(plan.part(Side::source, s));
        EXPECT_EQ(plan.sends(s), senders.back().peers());
        for (const Traffic& peer : senders.back().peers()) {
            EXPECT_GT(peer.elements, 0);
            EXPECT_TRUE(sent.emplace(std::pair(s, peer.process), peer.elements).second);
            if (plan.same_process(peer.process) != s)
                load[static_cast<std::size_t>(s)] += peer.elements;
        }
        EXPECT_TRUE(std::is_sorted(
            senders.back().peers().begin(), senders.back().peers().end(),
            [](const Traffic& a, const Traffic& b) { return a.process < b.process; }));
    }
    std::int64_t messages = 0, moved = 0;
    std::set<std::int64_t> rounds;
    std::set<std::pair<std::int64_t, std::int64_t>> sending, receiving;
    for (std::int64_t d = 0; d < destination.size(); ++d) {
        const Part part = plan.part(Side::destination, d);
        std::vector<std::int64_t> wanted = to.held[static_cast<std::size_t>(d)];
        for (std::int64_t& value : wanted) value = origins[static_cast<std::size_t>(value)];
        std::vector<std::int64_t> got(wanted.size(), -1);
        for (std::size_t k = 0; k < part.peers().size(); ++k) {
            const Traffic& peer = part.peers()[k];
            received[{peer.process, d}] = peer.elements;
            const std::int64_t same = plan.same_process(d);
            // A process that holds a copy takes it from itself.
            if (same != peer.process) ++messages, moved += peer.elements;
            const std::vector<Box> boxes = part.boxes(k);
            const Part& sender = senders[static_cast<std::size_t>(peer.process)];
            const auto at = std::find_if(sender.peers().begin(), sender.peers().end(),
                                         [&](const Traffic& t) { return t.process == d; });
            ASSERT_NE(at, sender.peers().end());
            const std::vector<Box> theirs =
                sender.boxes(static_cast<std::size_t>(at - sender.peers().begin()));
            ASSERT_TRUE(
                std::equal(boxes.begin(), boxes.end(), theirs.begin(), theirs.end(), equal));
            std::int64_t count = 0;
            for (const Box& box : boxes) {
                Shape a = box.source_first, b = box.destination_first;
                walk(box, 0, a, b, [&] {
                    ++count;
                    const auto source_place =
                        static_cast<std::size_t>(flatten(a, source.local_shape(peer.process)));
                    const auto place =
                        static_cast<std::size_t>(flatten(b, destination.local_shape(d)));
                    ASSERT_EQ(got.at(place), -1);
                    got[place] = held[static_cast<std::size_t>(peer.process)].at(source_place);
                });
            }
            ASSERT_EQ(count, peer.elements);
        }
        ASSERT_EQ(got, wanted);
        for (const hocket::plan::Step& step : plan.steps(Side::destination, d)) {
            EXPECT_FALSE(step.send);
            rounds.insert(step.round);
            EXPECT_TRUE(receiving.emplace(step.round, d).second);
            EXPECT_TRUE(sending.emplace(step.round, step.peer).second);
        }
    }
    EXPECT_EQ(sent, received);
    EXPECT_EQ(plan.message_count(), messages);
    EXPECT_EQ(plan.elements_moved(), moved);
    EXPECT_EQ(plan.rounds(), static_cast<std::int64_t>(rounds.size()));
    if (!rounds.empty()) {
        EXPECT_EQ(*rounds.rbegin() + 1, plan.rounds());
    }
    for (std::int64_t s = 0; s < source.size(); ++s)
        for (const hocket::plan::Step& step : plan.steps(Side::source, s)) {
            EXPECT_TRUE(step.send);
            EXPECT_TRUE(receiving.count({step.round, step.peer}));
            EXPECT_TRUE(sending.count({step.round, s}));
        }
    // Copies share the work: none carries more than its even share, rounded up.
    std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> groups;
    for (std::size_t s = 0; s < held.size(); ++s)
        if (!held[s].empty()) groups[held[s]].push_back(load[s]);
    for (const auto& [elements, loads] : groups) {
        const std::int64_t all = std::accumulate(loads.begin(), loads.end(), std::int64_t{0});
        const auto n = static_cast<std::int64_t>(loads.size());
        EXPECT_LE(*std::max_element(loads.begin(), loads.end()), (all + n - 1) / n);
    }
}

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const LayoutError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

class EveryElementOnce : public ::testing::TestWithParam<unsigned> {};

TEST_P(EveryElementOnce, random_layouts_both_sides_agree) {
    oracle::Random random(GetParam());
    for (int round = 0; round < 120; ++round) {
        const Shape shape = random.shape(static_cast<std::size_t>(random.between(0, 5)));
        hocket::plan::Options options;
        options.strategy = "direct";  // whose steps are the logical traffic
        Shape turned = shape;
        if (random.chance(40)) {
            for (std::size_t d = 0; d < shape.size(); ++d)
                options.axes.push_back(static_cast<std::int64_t>(d));
            std::shuffle(options.axes.begin(), options.axes.end(), random.engine());
            for (std::size_t j = 0; j < shape.size(); ++j)
                turned[j] = shape[static_cast<std::size_t>(options.axes[j])];
        }
        const oracle::Model from = random.model(shape, random.chance(20));
        const oracle::Model to = random.model(turned, random.chance(50));
        if (random.chance(60)) {
            std::vector<std::int64_t> processes(static_cast<std::size_t>(from.size() + to.size()),
                                                -1);
            std::iota(processes.begin(), processes.begin() + from.size(), 0);
            if (random.chance(50))
                std::shuffle(processes.begin(), processes.end(), random.engine());
            options.overlap.assign(processes.begin(), processes.begin() + to.size());
        }
        check(from, to, options);
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Plan, EveryElementOnce, ::testing::Range(10U, 30U));

TEST(Plan, every_pair_of_small_formats) {
    using hocket::layout::Format;
    std::vector<oracle::Case> all;
    const std::int64_t n = 23;
    for (std::int64_t p = 1; p <= 4; ++p)
        for (std::int64_t k = 0; k <= 6; ++k) {
            all.push_back({{n}, {{}}, {{n}, {{Format::Kind::cyclic, k}}, {p}, {}}});
            if (k == 0) all.push_back({{n}, {{}}, {{n}, {{Format::Kind::block, k}}, {p}, {}}});
        }
    for (oracle::Case& each : all) each.alignment[0].dimension = 0;
    for (const oracle::Case& from : all)
        for (const oracle::Case& to : all) {
            check(oracle::Model::of(from), oracle::Model::of(to), {});
            ASSERT_FALSE(HasFailure());
        }
}

TEST(Plan, full_traffic_takes_as_many_rounds_as_the_larger_side) {
    const Plan plan(Layout({12, 12}, "(BLOCK,*)", {4}), Layout({12, 12}, "(*,BLOCK)", {2}));
    EXPECT_EQ(plan.strategy(), "direct");
    EXPECT_EQ(plan.rounds(), 4);
    EXPECT_EQ(plan.message_count(), 8);
    EXPECT_EQ(plan.elements_moved(), 144);
    hocket::plan::Options same;
    same.overlap = {0, 1, 2, 3};
    const Plan inside(Layout({12, 12}, "(BLOCK,*)", {4}), Layout({12, 12}, "(*,BLOCK)", {4}), same);
    EXPECT_EQ(inside.rounds(), 3);
    EXPECT_EQ(inside.message_count(), 12);
    EXPECT_EQ(inside.elements_moved(), 144 - 4 * 9);
    EXPECT_GT(inside.predict()[0].seconds, 0);
}

TEST(Plan, contiguous_parts_are_one_run) {
    const Plan plan(Layout({100, 30}, "(BLOCK,*)", {4}), Layout({100, 30}, "(BLOCK,*)", {2}));
    const std::vector<Box> boxes = plan.part(Side::source, 1).boxes(0);
    ASSERT_EQ(boxes.size(), 1U);
    EXPECT_EQ(boxes[0].loops.size(), 2U);
    EXPECT_EQ(boxes[0].destination_first, (Shape{25, 0}));
    const std::int64_t n = std::int64_t{1} << 40;
    const Plan cyclic(Layout({n}, "(CYCLIC)", {2}), Layout({n}, "(CYCLIC(1024))", {3}));
    const Part part = cyclic.part(Side::source, 1);
    ASSERT_EQ(part.peers().size(), 3U);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_LE(part.boxes(k).size(), 2U);
}

TEST(Plan, one_part_of_a_million_processes) {
    const std::int64_t p = 1000000, n = std::int64_t{10000} * p;
    const Plan plan(Layout({n}, "(BLOCK)", {p}), Layout({n}, "(CYCLIC(3))", {p}));
    const Part part = plan.part(Side::source, 765432);
    std::int64_t elements = 0;
    for (const Traffic& peer : part.peers()) elements += peer.elements;
    EXPECT_EQ(elements, 10000);
    EXPECT_EQ(part.boxes(part.peers().size() / 2)[0].loops.size(), 1U);
    EXPECT_EQ(plan.rounds(), p);
}

TEST(Plan, bad_input_is_an_error_that_names_both_sides) {
    const Layout a({4, 6}, "(BLOCK,*)", {2}), b({6, 4}, "(BLOCK,*)", {3});
    const auto says = [&](hocket::plan::Options options, const std::string& part,
                          const Layout& to) {
        const std::string message = message_of([&] { Plan(a, to, options); });
        EXPECT_NE(message.find(part), std::string::npos) << message;
    };
    says({}, "(4, 6) (BLOCK, *) @ (2)", b);
    says({}, "(6, 4) (BLOCK, *) @ (3)", b);
    EXPECT_NO_THROW(Plan(a, b, {{1, 0}, 8, "auto", {}}));
    EXPECT_NO_THROW(Plan(a, b, {{-1, 0}, 8, "auto", {}}));
    says({{1, 1}, 8, "auto", {}}, "no permutation", b);
    says({{1}, 8, "auto", {}}, "do not fit", b);
    says({{0, 2}, 8, "auto", {}}, "no permutation", b);
    says({{1, 0}, 8, "drect", {}}, "did you mean 'direct'?", b);
    says({{1, 0}, 0, "auto", {}}, "itemsize 0", b);
    says({{1, 0}, std::int64_t{1} << 62, "auto", {}}, "2^63 - 1 bytes", b);
    says({{1, 0}, 8, "auto", {0, 1}}, "overlap names 2", b);
    says({{1, 0}, 8, "auto", {0, 0, 1}}, "one-to-one", b);
    says({{1, 0}, 8, "auto", {0, 2, 1}}, "source process 2", b);
    says({{1, 0}, 8, "auto", {0, -2, 1}}, "source process -2", b);
    EXPECT_NE(message_of([&] { Plan(a, a).sends(2); }).find("no process 2"), std::string::npos);
}
