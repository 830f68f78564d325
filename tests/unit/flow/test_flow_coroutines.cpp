// SPDX-License-Identifier: BSD-3-Clause
// Steps that wait in their middle.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/platform.hpp"
#include "hocket/flow.hpp"
#include "hocket/step.hpp"
#include "unit/flow/steps.hpp"
#include "unit/watched.hpp"

namespace {

using hocket::Coroutine;
using hocket::Flow;
using hocket::Operation;
using hocket::StepError;
using hocket::updates;
using hocket::tests::key;
using hocket::tests::with;

/// An operation that ends when its owner says so, or fails.
class Signal final : public Operation {
  public:
    bool poll() override {
        if (fails) throw std::runtime_error("the line broke");
        return open;
    }
    bool leave() override { return leaves; }
    std::string text() const override { return "a signal"; }

    std::atomic<bool> open{false}, fails{false};
    bool leaves = false;
};

std::shared_ptr<Signal> signal() {
    return std::make_shared<Signal>();
}

/// As a request of the library: it has an operation and a status.
class Asked {
  public:
    explicit Asked(std::shared_ptr<Signal> its) : on(std::move(its)) {}
    std::shared_ptr<Signal> on;
    std::shared_ptr<Operation> operation() const { return on; }
    int status() const { return on->open ? 17 : -1; }
};

/// Says when it is destroyed.
struct Witness {
    int& destroyed;
    explicit Witness(int& count) : destroyed(count) {}
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;
    ~Witness() { ++destroyed; }
};

Coroutine<int> twice(std::shared_ptr<Signal> first, int value) {
    co_await first;
    co_return 2 * value;
}

// The program of one worker that a step which blocks would stop: a step waits for a message that
// comes once an independent chain has ended.
TEST(FlowCoroutines, one_that_waits_holds_no_worker) {
    for (const bool communicates : {false, true}) {
        Flow flow(with(1));
        const auto message = signal();
        std::vector<int> order;
        auto receive = [&]() -> Coroutine<> {
            order.push_back(-1);
            co_await message;
            order.push_back(-2);
        };
        if (communicates)
            flow.comm(receive, {updates(key("message"))}, {1});
        else
            flow.task(receive, {updates(key("message"))}, {1});
        for (int i = 0; i < 8; ++i)
            flow.task([&, i] { order.push_back(i); }, {updates(key("chain"))});
        flow.task([&] { message->open = true; }, {updates(key("chain"))});
        flow.task([&] { order.push_back(-3); }, {hocket::reads(key("message"))});
        flow.wait();
        // It begins beside the first of the chain, and ends after the last.
        EXPECT_LT(std::find(order.begin(), order.end(), -1), order.begin() + 2);
        EXPECT_EQ(std::vector<int>(order.end() - 3, order.end()), (std::vector<int>{7, -2, -3}));
    }
}

TEST(FlowCoroutines, hundreds_wait_at_once) {
    for (int workers : {1, 2, 4}) {
        Flow flow(with(workers));
        constexpr int count = 300;
        std::vector<std::shared_ptr<Signal>> signals;
        std::atomic<int> begun{0}, ended{0};
        for (int i = 0; i < count; ++i) signals.push_back(signal());
        for (int i = 0; i < count; ++i)
            flow.task(
                [&, i]() -> Coroutine<> {
                    ++begun;
                    co_await signals[static_cast<std::size_t>(i)];
                    // Each opens the one before it.
                    if (i > 0) signals[static_cast<std::size_t>(i - 1)]->open = true;
                    ++ended;
                },
                {});
        flow.task([&] { signals.back()->open = true; }, {}, {-1});
        flow.wait();
        EXPECT_EQ(begun, count);
        EXPECT_EQ(ended, count);
    }
}

TEST(FlowCoroutines, an_awaited_thing_gives_its_result) {
    Flow flow(with(2));
    std::vector<int> seen;
    // g++ 12 cannot compile lists of initial values within a coroutine.
    const auto done = signal();
    done->open = true;
    std::vector<Asked> several{Asked(done), Asked(done)};
    const hocket::flow::Operations operations{done, nullptr, done};
    flow.task(
        [&]() -> Coroutine<> {
            const auto open = signal();
            open->open = true;
            seen.push_back(co_await Asked(open));
            Asked kept{open};
            seen.push_back(co_await kept);
            co_await several;
            co_await operations;
            auto own = std::make_unique<Signal>();
            own->open = true;
            co_await std::unique_ptr<Operation>(std::move(own));
            seen.push_back(co_await twice(open, 21));
            auto later = twice(open, 4);
            seen.push_back(co_await std::move(later));
        },
        {});
    flow.wait();
    EXPECT_EQ(seen, (std::vector<int>{17, 17, 42, 8}));
}

TEST(FlowCoroutines, an_error_is_thrown_where_it_is_awaited) {
    Flow flow(with(1));
    std::string caught;
    bool stopped = true;
    const auto broken = signal();
    broken->fails = true;
    flow.task(
        [&]() -> Coroutine<> {
            try {
                co_await broken;
            } catch (const std::runtime_error& error) {
                caught = error.what();
            }
        },
        {updates(key("a"))});
    flow.task([&] { stopped = false; }, {updates(key("a"))});
    flow.wait();
    EXPECT_EQ(caught, "the line broke");
    EXPECT_FALSE(stopped);

    // Several: all of them end first.
    const auto slow = signal();
    bool ran = false;
    const hocket::flow::Operations both{broken, slow};
    flow.task([&]() -> Coroutine<> { co_await both; }, {updates(key("a"))}, {0, "exchange"});
    flow.task([&] { ran = true; }, {updates(key("a"))});
    flow.task([&] { slow->open = true; }, {updates(key("b"))}, {-1});
    try {
        flow.wait();
        FAIL();
    } catch (const StepError& error) {
        EXPECT_STREQ(error.what(), "step 'exchange' failed: the line broke");
    }
    EXPECT_TRUE(slow->open);
    EXPECT_FALSE(ran);
}

TEST(FlowCoroutines, nested_steps_belong_to_it) {
    for (int workers : {1, 3}) {
        Flow flow(with(workers));
        const auto open = signal();
        std::vector<int> order;
        flow.task(
            [&]() -> Coroutine<> {
                flow.task([&] { order.push_back(1); }, {updates(key("inner"))});
                co_await open;
                flow.task([&] { order.push_back(2); }, {updates(key("inner"))});
            },
            {updates(key("outer"))});
        flow.task([&] { order.push_back(3); }, {updates(key("outer"))});
        flow.task([&] { open->open = true; }, {}, {-1});
        flow.wait();
        EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
    }
}

TEST(FlowCoroutines, a_wait_says_what_they_wait_for) {
    Flow flow(with(1));
    const auto shut = signal();
    flow.task([&]() -> Coroutine<> { co_await shut; }, {}, {0, "reader"});
    try {
        flow.wait(hocket::Deadline::in(0.2));
        FAIL();
    } catch (const hocket::DeadlineError& error) {
        EXPECT_NE(std::string(error.what()).find("step 'reader': a signal"), std::string::npos)
            << error.what();
    }
    shut->open = true;
    flow.wait();
}

// An awaited operation may still write into memory of the coroutine, which therefore lives until
// then.
TEST(FlowCoroutines, cancelled_they_never_go_on) {
    for (const bool leaves : {true, false})
        for (const bool communicates : {true, false}) {
            int destroyed = 0;
            bool went_on = false;
            const auto shut = signal(), begun = signal();
            shut->leaves = leaves;
            {
                Flow flow(with(1));
                const auto body = [&]() -> Coroutine<> {
                    const Witness witness(destroyed);
                    begun->open = true;
                    co_await shut;
                    went_on = true;
                };
                if (communicates)
                    flow.comm(body, {}, {1});
                else
                    flow.task(body, {}, {1});
                flow.task(
                    [&]() -> Coroutine<> {
                        co_await begun;
                        flow.cancel();
                    },
                    {});
                flow.wait();
                EXPECT_EQ(destroyed, leaves ? 1 : 0);
                shut->open = true;
                bool again = false;
                flow.comm([&] { again = true; }, {});
                flow.wait();
                EXPECT_TRUE(again);
            }
            EXPECT_EQ(destroyed, 1);
            EXPECT_FALSE(went_on);
        }
}

TEST(FlowCoroutines, commuting_and_reducing_are_refused) {
    Flow flow(with(1));
    double x = 0;
    const auto body = []() -> Coroutine<> { co_return; };
    EXPECT_THROW(flow.task(body, {hocket::commutes(hocket::Region(&x, sizeof x))}), hocket::Error);
    EXPECT_THROW(flow.task(body, {hocket::reduces(std::span<double>(&x, 1), std::plus<>(), 0.0)}),
                 hocket::Error);
    flow.wait();
}

TEST(FlowCoroutines, a_computing_step_that_gives_back_an_operation_is_told) {
    Flow flow(with(1));
    flow.task([] { return signal(); }, {}, {0, "forgetful"});
    try {
        flow.wait();
        FAIL();
    } catch (const StepError& error) {
        EXPECT_NE(std::string(error.what()).find("coroutine that awaits"), std::string::npos);
    }
}

TEST(FlowCoroutines, an_annotated_function_may_be_one) {
    std::vector<int> order;
    const auto open = signal();
    open->open = true;
    const auto receive = hocket::step("receive",
                                      [&](int value) -> Coroutine<> {
                                          co_await open;
                                          order.push_back(value);
                                      },
                                      {hocket::Use::value});
    receive(1);  // outside of flows it is an ordinary call
    EXPECT_EQ(order, std::vector<int>{1});
    Flow flow(with(1));
    {
        const Flow::Inside inside(flow);
        receive(2);
    }
    flow.wait();
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(FlowCoroutines, a_recording_shows_each_part) {
    auto options = with(1);
    options.record = true;
    Flow flow(options);
    const auto shut = signal();
    flow.task([&]() -> Coroutine<> { co_await shut; }, {}, {1, "paused"});
    flow.task([&] { shut->open = true; }, {}, {0, "between"});
    flow.wait();
    const std::string picture = flow.svg();
    std::size_t parts = 0;
    for (std::size_t at = 0; (at = picture.find("<title>paused", at)) != std::string::npos; ++at)
        ++parts;
    EXPECT_EQ(parts, 2U);
}

// Waits of the library pause a function with its own stack.
TEST(FlowCoroutines, a_function_with_its_own_stack_pauses_in_waits) {
    for (int workers : {1, 2, 3}) {
        Flow flow(with(workers));
        constexpr int count = 100;
        std::vector<std::shared_ptr<Signal>> signals;
        for (int i = 0; i < count; ++i) signals.push_back(signal());
        std::atomic<int> ended{0};
        for (int i = 0; i < count; ++i)
            flow.blocking_task(
                [&, i] {
                    try {
                        throw std::runtime_error("handled while it waits");
                    } catch (const std::runtime_error& error) {
                        hocket::wait(*signals[static_cast<std::size_t>(i)]);
                        EXPECT_STREQ(error.what(), "handled while it waits");
                        EXPECT_EQ(std::string(std::current_exception() ? "one" : "none"), "one");
                    }
                    if (i > 0) signals[static_cast<std::size_t>(i - 1)]->open = true;
                    ++ended;
                },
                {});
        flow.task([&] { signals.back()->open = true; }, {}, {-1});
        flow.wait();
        EXPECT_EQ(ended, count);
    }
}

TEST(FlowCoroutines, a_function_with_its_own_stack_gets_errors_deadlines_and_nested_steps) {
    Flow flow(with(1));
    const auto broken = signal(), shut = signal();
    broken->fails = true;
    std::vector<std::string> said;
    int nested = 0;
    flow.blocking_task(
        [&] {
            try {
                hocket::wait(*broken);
            } catch (const std::runtime_error& error) {
                said.emplace_back(error.what());
            }
            try {
                hocket::wait(*shut, hocket::Deadline::in(0.05));
            } catch (const hocket::DeadlineError&) {
                said.emplace_back("deadline");
            }
            for (int i = 0; i < 10; ++i) flow.task([&] { ++nested; }, {updates(key("nested"))});
            flow.wait();
            EXPECT_EQ(nested, 10);
            hocket::wait(*broken);
        },
        {updates(key("a"))}, {0, "blocking"});
    bool ran = false;
    flow.task([&] { ran = true; }, {updates(key("a"))});
    try {
        flow.wait();
        FAIL();
    } catch (const StepError& error) {
        EXPECT_STREQ(error.what(), "step 'blocking' failed: the line broke");
    }
    EXPECT_EQ(said, (std::vector<std::string>{"the line broke", "deadline"}));
    EXPECT_FALSE(ran);
    double x = 0;
    EXPECT_THROW(flow.blocking_task([] {}, {hocket::commutes(hocket::Region(&x, sizeof x))}),
                 hocket::Error);
}

// A function that has begun goes on, because its stack cannot be taken away.
TEST(FlowCoroutines, a_cancelled_flow_waits_for_functions_with_their_own_stacks) {
    Flow flow(with(1));
    const auto begun = signal(), shut = signal();
    bool ended = false;
    flow.blocking_task(
        [&] {
            begun->open = true;
            hocket::wait(*shut);
            ended = true;
        },
        {});
    flow.task(
        [&]() -> Coroutine<> {
            co_await begun;
            flow.cancel();
            shut->open = true;
        },
        {});
    flow.wait();
    EXPECT_TRUE(ended);
}

}  // namespace
