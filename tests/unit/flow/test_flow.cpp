// SPDX-License-Identifier: BSD-3-Clause
// Flows against the program read from top to bottom.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/platform.hpp"
#include "base/pool.hpp"
#include "hocket/flow.hpp"

namespace {

using hocket::commutes;
using hocket::Flow;
using hocket::FlowOptions;
using hocket::reads;
using hocket::Region;
using hocket::StepError;
using hocket::updates;
using hocket::writes;

FlowOptions workers(int count) {
    FlowOptions options;
    options.workers = count;
    return options;
}

/// An operation that ends when somebody says so.
class Gate final : public hocket::Operation {
  public:
    explicit Gate(std::atomic<bool>& open) : open_(open) {}
    bool poll() override { return open_; }
    std::string text() const override { return "a gate"; }

  private:
    std::atomic<bool>& open_;
};

Region whole(double& value) {
    return {&value, sizeof value};
}

TEST(Flow, runs_steps_in_the_order_of_what_they_touch) {
    for (int count : {1, 2, 4}) {
        Flow flow(workers(count));
        EXPECT_EQ(flow.workers(), count);
        double x = 0, y = 0;
        flow.task([&] { x = 3; }, {writes(whole(x))});
        for (int i = 0; i < 100; ++i) flow.task([&] { x = 2 * x - 2; }, {updates(whole(x))});
        flow.task([&] { y = x; }, {reads(whole(x)), writes(whole(y))});
        flow.task([&] { x = -1; }, {writes(whole(x))});
        flow.wait();
        EXPECT_EQ(x, -1);
        EXPECT_EQ(y, std::ldexp(1.0, 100) + 2);
        EXPECT_EQ(flow.steps(), 103);
    }
}

TEST(Flow, blocks_of_columns_do_not_wait_for_each_other) {
    std::vector<double> matrix(64 * 64, 0);
    FlowOptions options = workers(1);
    options.record = true;
    Flow flow(options);
    const auto columns = [&](int first, int count) {
        const std::int64_t extents[] = {64, count};
        const std::int64_t strides[] = {64 * 8, 8};
        return Region(&matrix[static_cast<std::size_t>(first)], extents, strides, 8);
    };
    for (int j = 0; j < 64; j += 8)
        flow.task([] {}, {updates(columns(j, 8))}, {0, "c" + std::to_string(j)});
    flow.task([] {}, {reads(columns(4, 8))}, {0, "across"});
    flow.wait();
    const std::string dot = flow.dot();
    EXPECT_NE(dot.find("s0 -> s8"), std::string::npos) << dot;
    EXPECT_NE(dot.find("s1 -> s8"), std::string::npos) << dot;
    EXPECT_EQ(dot.find("s2 -> s8"), std::string::npos) << dot;
    EXPECT_EQ(dot.find("s0 -> s1;"), std::string::npos) << dot;
    EXPECT_NE(flow.svg().find("across"), std::string::npos);
}

TEST(Flow, keys_order_steps) {
    Flow flow(workers(3));
    std::vector<int> seen;
    for (int i = 0; i < 50; ++i)
        flow.task([&seen, i] { seen.push_back(i); }, {updates(Region::key("list"))});
    flow.wait();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(seen.at(static_cast<std::size_t>(i)), i);
}

TEST(Flow, the_highest_priority_runs_first) {
    Flow flow(workers(1));
    std::string order;
    for (const int priority : {0, -3, 5, 1, 0, 5})
        flow.task([&order, priority] { order += std::to_string(priority) + " "; }, {}, {priority});
    flow.wait();
    EXPECT_EQ(order, "5 5 1 0 0 -3 ");
}

TEST(Flow, an_error_stops_dependants_only_and_names_the_step) {
    for (int count : {1, 3}) {
        Flow flow(workers(count));
        double x = 0, y = 0, z = 0;
        flow.task([&] { throw std::runtime_error("no more paper"); }, {writes(whole(x))},
                  {0, "print"});
        flow.task([&] { y = 1; }, {reads(whole(x)), writes(whole(y))});
        flow.task([&] { z = 1; }, {writes(whole(z))});
        try {
            flow.wait();
            FAIL();
        } catch (const StepError& error) {
            EXPECT_STREQ(error.what(), "step 'print' failed: no more paper");
            EXPECT_EQ(error.step(), "print");
            EXPECT_THROW(std::rethrow_exception(error.cause()), std::runtime_error);
            EXPECT_THROW(error.rethrow_nested(), std::runtime_error);
        }
        EXPECT_EQ(y, 0);
        EXPECT_EQ(z, 1);
        // It can be used again.
        flow.task([&] { x = 7; }, {writes(whole(x))});
        flow.wait();
        EXPECT_EQ(x, 7);
    }
}

TEST(Flow, a_step_that_comes_after_the_failure_is_stopped_too) {
    Flow flow(workers(2));
    double x = 0, y = 0;
    flow.task([&] { throw std::runtime_error("first"); }, {writes(whole(x))});
    EXPECT_THROW(flow.wait_on(whole(x)), StepError);
    flow.task([&] { y = 1; }, {reads(whole(x)), writes(whole(y))});
    EXPECT_THROW(flow.wait(), StepError);
    EXPECT_EQ(y, 0);
}

TEST(Flow, of_several_failures_the_first_inserted_is_told) {
    Flow flow(workers(1));
    flow.task([] { throw std::runtime_error("slow"); }, {}, {-1, "a"});
    flow.task([] { throw std::runtime_error("quick"); }, {}, {1, "b"});
    try {
        flow.wait();
        FAIL();
    } catch (const StepError& error) {
        EXPECT_EQ(error.step(), "a");
    }
}

TEST(Flow, commuting_steps_run_one_at_a_time_in_any_order) {
    Flow flow(workers(4));
    std::atomic<int> inside{0};
    int count = 0, before = -1, after = -1;
    const Region region(&count, sizeof count);
    flow.task([&] { before = count; }, {reads(region)});
    for (int i = 0; i < 400; ++i)
        flow.task(
            [&] {
                EXPECT_EQ(++inside, 1);
                ++count;
                --inside;
            },
            {commutes(region)});
    flow.task([&] { after = count; }, {reads(region)});
    flow.wait();
    EXPECT_EQ(before, 0);
    EXPECT_EQ(after, 400);
}

TEST(Flow, a_step_ends_with_its_own_steps) {
    for (int count : {1, 2, 4}) {
        Flow flow(workers(count));
        std::vector<double> parts(16, 0);
        double sum = -1;
        flow.task(
            [&] {
                for (double& part : parts)
                    flow.task([&] { flow.task([&] { part = 2; }, {writes(whole(part))}); },
                              {updates(whole(part))});
            },
            {writes(std::span<double>(parts))});
        flow.task([&] { sum = std::accumulate(parts.begin(), parts.end(), 0.0); },
                  {reads(std::span<double>(parts)), writes(whole(sum))});
        flow.wait();
        EXPECT_EQ(sum, 32);
    }
}

TEST(Flow, waits_within_steps_end_however_deep) {
    Flow flow(workers(2));
    std::atomic<int> leaves{0};
    const std::function<void(int)> descend = [&](int depth) {
        if (depth == 0) {
            ++leaves;
            return;
        }
        flow.task([&, depth] { descend(depth - 1); }, {});
        flow.task([&, depth] { descend(depth - 1); }, {});
        flow.wait();
    };
    flow.task([&] { descend(9); }, {});
    flow.wait();
    EXPECT_EQ(leaves, 512);
    // As deep as they go, in one line.
    std::function<void(int)> down = [&](int depth) {
        if (depth == 0) return;
        flow.task([&, depth] { down(depth - 1); }, {});
        flow.wait();
    };
    flow.task([&] { down(60); }, {});
    flow.wait();
}

TEST(Flow, an_inner_error_names_both_steps) {
    Flow flow(workers(2));
    flow.task(
        [&] {
            flow.task([] { throw std::logic_error("why"); }, {}, {0, "inner"});
        },
        {}, {0, "outer"});
    try {
        flow.wait();
        FAIL();
    } catch (const StepError& error) {
        EXPECT_STREQ(error.what(), "step 'outer': step 'inner' failed: why");
        EXPECT_THROW(std::rethrow_exception(error.cause()), std::logic_error);
    }
}

TEST(Flow, wait_on_waits_for_a_region_only) {
    Flow flow(workers(2));
    std::atomic<bool> go{false};
    double x = 0;
    flow.comm([&] { return std::make_unique<Gate>(go); }, {updates(Region::key("slow"))});
    flow.task([&] { x = 5; }, {writes(whole(x))});
    flow.wait_on(whole(x));
    EXPECT_EQ(x, 5);
    go = true;
    flow.wait();
}

TEST(Flow, a_step_cannot_wait_on_what_stands_beside_it) {
    Flow flow(workers(1));
    double x = 0;
    std::atomic<bool> go{false};
    flow.comm([&] { return std::make_unique<Gate>(go); }, {updates(whole(x))});
    flow.task(
        [&] {
            try {
                flow.wait_on(whole(x));
            } catch (...) {
                go = true;
                throw;
            }
            go = true;
        },
        {}, {1, "impatient"});
    try {
        flow.wait();
        FAIL();
    } catch (const StepError& error) {
        EXPECT_NE(std::string(error.what()).find("step 'impatient' waits for"), std::string::npos)
            << error.what();
    }
}

TEST(Flow, checking_finds_a_step_that_writes_its_input) {
    FlowOptions options = workers(2);
    options.check = true;
    Flow flow(options);
    std::vector<double> a(100, 1);
    flow.task([&] { a[0] = 1; }, {reads(std::span<double>(a))}, {0, "honest"});
    flow.task([&] { a[50] = 2; }, {reads(std::span<double>(a))}, {0, "liar"});
    try {
        flow.wait();
        FAIL();
    } catch (const StepError& error) {
        EXPECT_EQ(error.step(), "liar");
        EXPECT_NE(std::string(error.what()).find("declared to read only"), std::string::npos);
    }
}

TEST(Flow, cancelling_leaves_out_what_has_not_begun) {
    Flow flow(workers(1));
    int ran = 0;
    flow.task(
        [&] {
            ++ran;
            flow.cancel();
        },
        {updates(whole(*std::make_unique<double>()))}, {2});
    for (int i = 0; i < 10; ++i) flow.task([&] { ++ran; }, {});
    flow.wait();
    EXPECT_EQ(ran, 1);
    flow.task([&] { ++ran; }, {});
    flow.wait();
    EXPECT_EQ(ran, 2);
}

TEST(Flow, left_by_an_exception_it_stops_what_has_not_begun) {
    int ran = 0;
    try {
        Flow flow(workers(1));
        flow.task([&] { ++ran; }, {});
        throw std::runtime_error("away");
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(ran, 0);
}

TEST(Flow, left_in_peace_it_runs_to_its_end) {
    int ran = 0;
    {
        Flow flow(workers(2));
        for (int i = 0; i < 10; ++i) flow.task([&] { ++ran; }, {updates(Region(&ran, sizeof ran))});
    }
    EXPECT_EQ(ran, 10);
}

TEST(Flow, a_deadline_ends_the_wait_and_not_the_steps) {
    Flow flow(workers(2));
    std::atomic<bool> go{false};
    flow.comm([&] { return std::make_unique<Gate>(go); }, {}, {0, "through"});
    // A first wait may end before the agent's thread has begun the step.
    std::string said;
    const double begun = hocket::platform::seconds();
    while (said.find("step 'through': a gate") == std::string::npos) {
        ASSERT_LT(hocket::platform::seconds() - begun, 60) << said;
        try {
            flow.wait(hocket::Deadline::in(0.05));
            FAIL();
        } catch (const hocket::DeadlineError& error) {
            said = error.what();
        }
    }
    go = true;
    flow.wait();
}

TEST(Flow, the_agent_has_a_thread_where_a_core_is_left) {
    cpu_set_t mine;
    ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    const int cores = CPU_COUNT(&mine);
    EXPECT_FALSE(Flow(workers(cores)).agent_thread());
    EXPECT_EQ(Flow(workers(1)).agent_thread(), cores > 1);
}

TEST(Flow, what_a_step_calls_uses_one_thread) {
    const int outside = hocket::base::default_threads();
    int inside = 0;
    Flow flow(workers(2));
    flow.task([&] { inside = hocket::base::default_threads(); }, {writes(Region::key("threads"))});
    flow.wait();
    EXPECT_EQ(inside, 1);
    EXPECT_EQ(hocket::base::default_threads(), outside);
}

TEST(Flow, wrong_options_are_told) {
    EXPECT_THROW(Flow{workers(0)}, hocket::Error);
    EXPECT_THROW(Flow{workers(-2)}, hocket::Error);
    FlowOptions options = workers(1);
    options.window = 0;
    EXPECT_THROW(Flow{options}, hocket::Error);
    Flow flow(workers(1));
    EXPECT_THROW((void)flow.dot(), hocket::Error);
}

}  // namespace
