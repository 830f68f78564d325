// SPDX-License-Identifier: BSD-3-Clause
// Whose turn it is: of steps, of communication between them, and of threads within them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/pool.hpp"
#include "hocket/flow.hpp"
#include "hocket/step.hpp"
#include "unit/flow/steps.hpp"

namespace {

using hocket::Flow;
using hocket::FlowOptions;
using hocket::reads;
using hocket::Region;
using hocket::updates;
using hocket::writes;
using hocket::tests::key;
using hocket::tests::with;

/// Done at the n-th poll; what it does then a test says.
class Polls final : public hocket::Operation {
  public:
    explicit Polls(int left, std::function<void()> at_end = {})
        : left_(left), at_end_(std::move(at_end)) {}
    bool poll() override {
        if (left_ > 0 && --left_ == 0 && at_end_) at_end_();
        return left_ == 0;
    }
    std::string text() const override { return "some polls"; }

  private:
    int left_;
    std::function<void()> at_end_;
};

void sleep_time(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

TEST(Turns, a_step_of_low_priority_waits_for_others_that_may_run) {
    std::vector<std::string> order;
    Flow flow(with(1));
    flow.task([&] { order.emplace_back("first"); }, {writes(key("x"))});
    flow.task([&] { order.emplace_back("low"); }, {reads(key("x"))}, {-1});
    flow.task([&] { order.emplace_back("other"); }, {});
    flow.wait();
    EXPECT_EQ(order, (std::vector<std::string>{"first", "other", "low"}));
}

TEST(Turns, communication_goes_on_between_steps_that_follow_each_other) {
    constexpr int steps = 60;
    int at = 0, seen = steps;
    Flow flow(with(1));
    flow.comm([] { return std::make_unique<Polls>(3); }, {writes(key("message"))});
    for (int i = 0; i < steps; ++i)
        flow.task([&] { sleep_time(1e-3), ++at; }, {updates(key("chain"))});
    flow.task([&] { seen = at; }, {reads(key("message"))}, {1});
    flow.wait();
    EXPECT_LT(seen, steps / 2);
}

TEST(Turns, a_long_step_gives_way_to_what_is_more_urgent) {
    std::vector<std::string> order;
    Flow flow(with(1));
    flow.comm([] { return std::make_unique<Polls>(5); }, {writes(key("message"))});
    flow.task(
        [&] {
            for (int i = 0; i < 1000 && order.empty(); ++i) sleep_time(1e-4), flow.give_way();
            order.emplace_back("long");
        },
        {}, {1});
    flow.task([&] { order.emplace_back("as urgent"); }, {reads(key("message"))}, {1});
    flow.task([&] { order.emplace_back("urgent"); }, {reads(key("message"))}, {2});
    flow.task([&] { order.emplace_back("usual"); }, {});
    flow.wait();
    EXPECT_EQ(order, (std::vector<std::string>{"urgent", "long", "as urgent", "usual"}));
}

TEST(Turns, what_has_the_way_may_give_it_again) {
    std::vector<std::string> order;
    Flow flow(with(1));
    const std::function<void(int)> body = [&](int priority) {
        order.push_back("begin " + std::to_string(priority));
        if (priority < 3) flow.task([&body, priority] { body(priority + 1); }, {}, {priority + 1});
        flow.give_way();
        order.push_back("end " + std::to_string(priority));
    };
    flow.task([&] { body(1); }, {}, {1});
    flow.wait();
    EXPECT_EQ(order, (std::vector<std::string>{"begin 1", "begin 2", "begin 3", "end 3", "end 2",
                                               "end 1"}));
}

TEST(Turns, steps_of_no_higher_priority_keep_their_order) {
    std::vector<std::string> order;
    Flow flow(with(1));
    for (const int priority : {-2, -1})
        flow.task(
            [&, priority] {
                flow.give_way();
                order.push_back(std::to_string(priority));
            },
            {}, {priority});
    flow.wait();
    EXPECT_EQ(order, (std::vector<std::string>{"-1", "-2"}));
}

TEST(Turns, outside_of_steps_only_communication_goes_on) {
    bool come = false, ran = false;
    Flow flow(with(1));
    flow.comm([&] { return std::make_unique<Polls>(3, [&] { come = true; }); }, {});
    flow.task([&] { ran = true; }, {}, {1});
    for (int i = 0; i < 1000 && !come; ++i) sleep_time(1e-4), flow.give_way();
    EXPECT_TRUE(come);
    EXPECT_FALSE(ran);
    flow.wait();
    EXPECT_TRUE(ran);
}

TEST(Turns, a_wait_gives_up_between_steps_that_follow_each_other) {
    constexpr int steps = 1000;
    std::atomic<int> ran{0};
    Flow flow(with(1));
    for (int i = 0; i < steps; ++i)
        flow.task([&] { sleep_time(1e-3), ++ran; }, {updates(key("chain"))});
    EXPECT_THROW(flow.wait(hocket::Deadline::in(5e-3)), hocket::DeadlineError);
    EXPECT_LT(ran, steps);
    flow.cancel();
    flow.wait();
    EXPECT_LT(ran, steps);
}

TEST(Turns, a_wait_for_a_region_ends_before_what_follows) {
    constexpr int steps = 1000;
    std::atomic<int> ran{0};
    Flow flow(with(1));
    flow.task([] {}, {updates(key("chain")), writes(key("first"))});
    for (int i = 0; i < steps; ++i)
        flow.task([&] { sleep_time(1e-4), ++ran; }, {updates(key("chain"))});
    flow.wait_on(key("first"));
    EXPECT_LT(ran, steps);
    flow.cancel();
    flow.wait();
}

TEST(Turns, kernels_in_a_step_have_its_share_of_threads) {
    int usual = 0, more = 0, most = 0, inside = 0;
    Flow flow(with(3, 2));
    const auto note = [](int& to) { return [&to] { to = hocket::base::default_threads(); }; };
    flow.task(note(usual), {});
    flow.task(note(more), {}, {.threads = 3});
    flow.task(note(most), {}, {.threads = 100});
    flow.comm(note(inside), {});
    flow.wait();
    EXPECT_EQ(usual, 2);
    EXPECT_EQ(more, 3);
    EXPECT_EQ(most, 3);  // there are no more workers
    EXPECT_EQ(inside, 2);
    EXPECT_THROW(flow.task([] {}, {}, {.threads = -1}), hocket::Error);
    EXPECT_THROW(Flow(with(2, 0)), hocket::Error);
    const auto annotated = hocket::step("share", note(usual), {}, 0, 3);
    {
        const Flow::Inside entered(flow);
        annotated();
    }
    flow.wait();
    EXPECT_EQ(usual, 3);
}

// The thread of an urgent step has no part left, while the other one runs the last part.
TEST(Turns, a_wait_for_running_steps_takes_no_other_step) {
    Flow flow(with(2));
    std::atomic<int> met{0};
    std::atomic<bool> over{false}, early{false};
    class Met final : public hocket::Operation {
      public:
        explicit Met(const std::atomic<int>& met) : met_(met) {}
        bool poll() override { return met_ == 2; }
        std::string text() const override { return "two parts"; }

      private:
        const std::atomic<int>& met_;
    };
    flow.comm([&] { return std::make_unique<Met>(met); }, {writes(key("met"))});
    flow.task([&] { early = !over; }, {reads(key("met"))});
    flow.task(
        [&] {
            const auto here = std::this_thread::get_id();
            for (int i = 0; i < 2; ++i)
                flow.task(
                    [&] {
                        ++met;
                        while (met < 2) std::this_thread::yield();
                        if (std::this_thread::get_id() == here) return;
                        std::this_thread::sleep_for(std::chrono::milliseconds(20));
                        over = true;
                    },
                    {}, {.priority = 1});
            flow.wait();
        },
        {}, {.priority = 1});
    flow.wait();
    EXPECT_FALSE(early);
}

// Two parts that wait for each other, which only two threads can do at a time.
TEST(Turns, workers_join_the_kernels_of_a_step) {
    for (int round = 0; round < 20; ++round) {
        Flow flow(with(2));
        std::atomic<int> met{0};
        std::set<int> nested;
        flow.task(
            [&] {
                hocket::base::parallel_for(0, 2, [&](std::int64_t) {
                    ++met;
                    while (met < 2) std::this_thread::yield();
                });
                nested.insert(hocket::base::default_threads());
            },
            {}, {.threads = 2});
        for (int i = 0; i < 50; ++i) flow.task([] {}, {updates(key("others"))});
        flow.wait();
        EXPECT_EQ(met, 2);
        EXPECT_EQ(nested, (std::set<int>{2}));
    }
}

TEST(Turns, kernels_of_many_steps_share_the_workers) {
    Flow flow(with(4, 4));
    std::atomic<std::int64_t> sum{0};
    for (int i = 0; i < 200; ++i)
        flow.task(
            [&] {
                hocket::base::parallel_for(0, 8, [&](std::int64_t part) {
                    hocket::base::parallel_for(0, 2, [&](std::int64_t) { sum += part; });
                });
            },
            {});
    flow.task(
        [] {
            hocket::base::parallel_for(0, 100, [](std::int64_t part) {
                if (part == 50) throw hocket::Error("part 50");
            });
        },
        {}, {0, "broken"});
    EXPECT_THROW(flow.wait(), hocket::StepError);
    EXPECT_EQ(sum, 200 * 2 * 28);
}

// Whether those beside it have ended is a matter of time, and must not decide.
TEST(Turns, a_step_waits_on_what_others_beside_it_may_use_as_well) {
    Flow flow(with(1));
    double x = 1, seen = 0;
    const Region memory(&x, sizeof x);
    flow.comm([] { return std::make_unique<Polls>(1000); }, {reads(memory)});
    flow.task(
        [&] {
            flow.task([&] { seen = x; }, {reads(memory)});
            flow.wait_on(memory);
        },
        {reads(memory)}, {1});
    flow.wait();
    EXPECT_EQ(seen, 1);
    flow.task([&] { ++x; }, {hocket::commutes(memory)}, {-1});
    flow.task([&] { flow.wait_on(memory), seen = x; }, {hocket::commutes(memory)}, {1});
    flow.wait();
    EXPECT_EQ(x, 2);
    EXPECT_EQ(seen, 1);
}

TEST(Turns, a_recording_flow_draws_every_dependence) {
    constexpr int readers = 1500;
    FlowOptions options = with(2);
    options.record = true;
    Flow flow(options);
    flow.task([] {}, {writes(key("x"))}, {0, "one\nline"});
    for (int i = 0; i < readers; ++i) flow.task([] {}, {reads(key("x"))});
    flow.wait();
    flow.task([] {}, {reads(key("x"))});
    flow.wait();
    const std::string dot = flow.dot();
    int edges = 0;
    for (std::size_t at = 0; (at = dot.find("s0 -> ", at)) != std::string::npos; ++at) ++edges;
    EXPECT_EQ(edges, readers + 1);
    flow.wait_on(key("x"));
    flow.task([] {}, {updates(key("x"))}, {0, "last"});
    flow.wait();
    const std::string more = flow.dot(), last = "s" + std::to_string(readers + 2);
    for (const char* earlier : {"s1 -> ", "s1501 -> "})
        EXPECT_NE(more.find(earlier + last), std::string::npos) << earlier;
}

std::atomic<bool> interrupted{false};

struct Interrupted {};

// Steps that follow each other leave no wait that would look for it.
TEST(Turns, an_interrupt_ends_a_wait_that_helps) {
    constexpr int steps = 3000;
    std::atomic<int> ran{0};
    Flow flow(with(1));
    for (int i = 0; i < steps; ++i)
        flow.task(
            [&] {
                sleep_time(1e-3);
                if (++ran == 10) interrupted = true;
            },
            {updates(key("chain"))});
    hocket::set_interrupt_check([] {
        if (interrupted.exchange(false)) throw Interrupted();
    });
    EXPECT_THROW(flow.wait(), Interrupted);
    hocket::set_interrupt_check(nullptr);
    EXPECT_LT(ran, steps);
    flow.cancel();
    flow.wait();
}

TEST(Turns, checking_looks_at_steps_that_communicate) {
    double x = 0;
    FlowOptions options = with(1);
    options.check = true;
    Flow flow(options);
    const Region memory(&x, sizeof x);
    flow.comm([] { return std::make_unique<Polls>(3); }, {reads(memory)}, {0, "honest"});
    flow.wait();
    flow.comm([&] { return std::make_unique<Polls>(3, [&] { x = 1; }); }, {reads(memory)},
              {0, "liar"});
    try {
        flow.wait();
        FAIL();
    } catch (const hocket::StepError& error) {
        EXPECT_NE(std::string(error.what()).find("'liar' failed: what it declared to read only"),
                  std::string::npos)
            << error.what();
    }
}

TEST(Turns, steps_that_communicate_cannot_wait) {
    Flow flow(with(1));
    flow.comm([&] { flow.wait_on(key("x")); }, {reads(key("y"))}, {.name = "asks"});
    EXPECT_THROW(flow.wait(), hocket::StepError);
    flow.comm([&] { flow.wait(); }, {reads(key("y"))}, {.name = "asks"});
    EXPECT_THROW(flow.wait(), hocket::StepError);
}

TEST(Turns, a_closed_flow_runs_on_the_thread_that_waits) {
    Flow flow(with(3));
    std::atomic<int> ran{0};
    const auto count = [&] { ++ran; };
    for (int i = 0; i < 10; ++i) flow.task(count, {updates(key("x"))});
    flow.close();
    EXPECT_EQ(ran, 10);
    std::set<std::thread::id> threads;
    for (int i = 0; i < 10; ++i)
        flow.task([&] { threads.insert(std::this_thread::get_id()); }, {updates(key("x"))});
    flow.comm([] { return std::make_unique<Polls>(5); }, {updates(key("x"))});
    flow.wait();
    EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

TEST(Turns, steps_that_communicate_cannot_commute) {
    Flow flow(with(1));
    EXPECT_THROW(flow.comm([] {}, {hocket::commutes(key("x"))}), hocket::Error);
    flow.wait();
}

TEST(Turns, an_annotated_function_that_communicates_waits_outside_of_flows) {
    bool ended = false;
    const auto send = hocket::comm_step(
        "send", [&] { return std::make_unique<Polls>(5, [&] { ended = true; }); }, {});
    send();
    EXPECT_TRUE(ended);
}

}  // namespace
