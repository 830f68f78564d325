// SPDX-License-Identifier: BSD-3-Clause
// Steps that wait for flows whose steps wait for them.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hocket/flow.hpp"
#include "unit/flow/steps.hpp"

namespace {

using hocket::Deadline;
using hocket::Flow;
using hocket::reads;
using hocket::Region;
using hocket::StepError;
using hocket::updates;
using hocket::writes;
using hocket::tests::key;
using hocket::tests::with;

/// The error that a flow has; "" if none.
std::string error_of(Flow& flow) {
    try {
        flow.wait();
    } catch (const StepError& error) {
        return error.what();
    }
    return "";
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A step passes when as many have come.
class Meeting {
  public:
    explicit Meeting(int steps) : missing_(steps) {}
    void come() {
        --missing_;
        while (missing_ > 0) std::this_thread::yield();
    }

  private:
    std::atomic<int> missing_;
};

TEST(Circles, on_one_thread) {
    Flow a(with(1)), b(with(1));
    b.task([&] { a.wait(); }, {}, {.name = "inner"});
    a.task([&] { b.wait(); }, {}, {.name = "outer"});
    const std::string error = error_of(a);
    EXPECT_TRUE(has(error,
                    "step 'inner' waits for step 'outer', which cannot end before step "
                    "'inner': none of them can end"))
        << error;
    EXPECT_EQ(error_of(a), "");
    EXPECT_EQ(error_of(b), "");
}

// Each begins before any waits; the one that comes last gets the error.
TEST(Circles, of_steps_that_run_at_the_same_time) {
    for (const int flows : {2, 3}) {
        std::vector<std::unique_ptr<Flow>> all;
        for (int i = 0; i < flows; ++i) all.push_back(std::make_unique<Flow>(with(2)));
        Meeting meeting(flows);
        std::atomic<int> told{0}, others{0};
        for (int i = 0; i < flows; ++i)
            all[static_cast<std::size_t>(i)]->task(
                [&, i] {
                    meeting.come();
                    try {
                        all[static_cast<std::size_t>((i + 1) % flows)]->wait();
                    } catch (const StepError&) {
                        ++others;
                    } catch (const hocket::Error& error) {
                        const std::string text = error.what();
                        for (int k = 0; k < flows; ++k)
                            EXPECT_TRUE(has(text, "'in " + std::to_string(k) + "' waits for step"))
                                << text;
                        ++told;
                    }
                },
                {}, {.name = "in " + std::to_string(i)});
        for (auto& flow : all) EXPECT_EQ(error_of(*flow), "");
        EXPECT_EQ(told, 1);
        EXPECT_EQ(others, 0);  // as the error was caught in its step
    }
}

TEST(Circles, through_wait_on_and_what_comes_before) {
    Flow a(with(2)), b(with(2));
    Meeting meeting(2);
    const std::vector<double> x(4), y(4);
    // The last of b waits for the first, which waits for a.
    b.task(
        [&] {
            meeting.come();
            a.wait_on(Region(x.data(), sizeof(double)));
        },
        {writes(key("y"))}, {.name = "first"});
    b.task([] {}, {updates(key("y"))}, {.name = "second"});
    b.task([] {}, {reads(key("y")), writes(Region(y.data(), sizeof(double)))}, {.name = "third"});
    a.task(
        [&] {
            meeting.come();
            b.wait_on(Region(y.data(), sizeof(double)));
        },
        {writes(Region(x.data(), sizeof(double)))}, {.name = "other"});
    const std::string of_a = error_of(a), of_b = error_of(b);
    EXPECT_TRUE(has(of_a + of_b, "step 'third', which cannot end before step 'first'"))
        << of_a << of_b;
    EXPECT_TRUE(has(of_a + of_b, "step 'first' waits for step 'other'")) << of_a << of_b;
}

// A step ends with its own steps.
TEST(Circles, through_steps_of_steps) {
    Flow a(with(2)), b(with(1));
    b.task([&] { a.wait(); }, {}, {.name = "asks"});
    a.task([&] { a.task([&] { b.wait(); }, {}, {.name = "child"}); }, {}, {.name = "parent"});
    const std::string error = error_of(a);
    EXPECT_TRUE(has(error, "step 'asks' waits for step '")) << error;
    EXPECT_TRUE(has(error, "none of them can end")) << error;
}

TEST(Circles, what_is_not_waited_for_is_none) {
    Flow a(with(2)), b(with(2));
    Meeting meeting(2);
    std::atomic<bool> done{false};
    a.task(
        [&] {
            meeting.come();
            b.wait_on(key("x"));
            done = true;
        },
        {});
    b.task(
        [&] {
            meeting.come();
            a.wait_on(key("of nobody"));
        },
        {});
    b.task([] { std::this_thread::yield(); }, {writes(key("x"))});
    EXPECT_EQ(error_of(a), "");
    EXPECT_EQ(error_of(b), "");
    EXPECT_TRUE(done);
}

// It ends by itself.
TEST(Circles, a_deadline_is_left_alone) {
    Flow a(with(2)), b(with(2));
    Meeting meeting(2);
    std::atomic<bool> late{false};
    a.task(
        [&] {
            meeting.come();
            try {
                b.wait(Deadline::in(0.2));
            } catch (const hocket::DeadlineError&) {
                late = true;
            }
        },
        {});
    b.task(
        [&] {
            meeting.come();
            a.wait();
        },
        {});
    EXPECT_EQ(error_of(a), "");
    EXPECT_EQ(error_of(b), "");
    EXPECT_TRUE(late);
}

// It must not end before its steps, so the other one gets the error.
TEST(Circles, a_flow_that_ends_in_a_step) {
    for (int i = 0; i < 5; ++i) {
        Flow a(with(2));
        std::atomic<bool> told{false};
        a.task(
            [&] {
                Meeting meeting(2);
                Flow b(with(2));
                b.task(
                    [&] {
                        meeting.come();
                        try {
                            a.wait();
                        } catch (const hocket::Error& error) {
                            told = has(error.what(), "none of them can end");
                        }
                    },
                    {});
                meeting.come();
            },
            {});
        EXPECT_EQ(error_of(a), "");
        EXPECT_TRUE(told);
    }
}

// Trees of flows in steps of flows, beside each other: none gets an error.
TEST(Circles, flows_in_steps_of_flows_are_none) {
    std::atomic<int> leaves{0};
    const std::function<void(int)> grow = [&](int depth) {
        if (depth == 0) {
            ++leaves;
            return;
        }
        Flow inner(with(2));
        for (int i = 0; i < 3; ++i) {
            inner.task([&, depth] { grow(depth - 1); }, {updates(key(i == 2 ? "x" : "y"))});
            inner.task(
                [&] {
                    inner.task([&] { ++leaves; }, {});
                    inner.wait();
                },
                {});
        }
        inner.wait_on(key("x"));
        inner.wait();
    };
    Flow outer(with(2));
    for (int i = 0; i < 4; ++i) outer.task([&] { grow(3); }, {});
    EXPECT_EQ(error_of(outer), "");
    EXPECT_EQ(leaves, 4 * (27 + 3 * (1 + 3 + 9)));
}

}  // namespace
