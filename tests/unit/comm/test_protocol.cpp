// SPDX-License-Identifier: BSD-3-Clause
// Protocols, driven without MPI.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/call.hpp"
#include "comm/protocol.hpp"

namespace hocket::comm {
namespace {

using Log = std::vector<std::string>;

// Holds once it is opened.
struct Gate final : Condition {
    bool open = false;
    int asked = 0;
    bool holds() override {
        ++asked;
        return open;
    }
};

// Says when it is destroyed.
struct Witness {
    Log& log;
    std::string name;
    Witness(Log& to, std::string called) : log(to), name(std::move(called)) {}
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;
    ~Witness() { log.push_back("~" + name); }
};

Protocol<int> pass(Gate& gate, Log& log, std::string name, int result) {
    const Witness witness(log, name);
    log.push_back(name + " begins");
    co_await until(gate);
    log.push_back(name + " ends");
    co_return result;
}

Protocol<int> sum(Gate& first, Gate& second, Log& log) {
    const Witness witness(log, "sum");
    const int a = co_await pass(first, log, "a", 1);
    const int b = co_await pass(second, log, "b", 20);
    co_return a + b;
}

Protocol<> fail(Gate& gate, std::string message) {
    co_await until(gate);
    throw std::runtime_error(message);
}

Protocol<std::string> recover(Gate& gate) {
    std::string caught;
    try {
        co_await fail(gate, "from within");
    } catch (const std::runtime_error& error) {
        caught = error.what();
    }
    co_return caught + ", caught";
}

Protocol<std::int64_t> count_to(std::int64_t n) {
    std::int64_t counted = 0;
    Gate open;
    open.open = true;
    Log none;
    for (std::int64_t i = 0; i < n; ++i) counted += co_await pass(open, none, "", 1);
    co_return counted;
}

Protocol<std::unique_ptr<int>> make_unique_later(Gate& gate) {
    co_await until(gate);
    co_return std::make_unique<int>(7);
}

TEST(Protocol, DoesNothingBeforeItIsPolled) {
    Gate gate;
    Log log;
    {
        Driven<int> driven(pass(gate, log, "a", 1));
        EXPECT_TRUE(log.empty());
    }
    EXPECT_TRUE(log.empty());  // its body was never entered
}

TEST(Protocol, PausesInTheInnermostAndGoesOnThere) {
    Gate first, second;
    Log log;
    Driven<int> driven(sum(first, second, log));
    EXPECT_FALSE(driven.poll());
    EXPECT_FALSE(driven.poll());
    EXPECT_EQ(log, (Log{"a begins"}));
    EXPECT_EQ(second.asked, 0);
    first.open = true;
    EXPECT_FALSE(driven.poll());
    EXPECT_EQ(log, (Log{"a begins", "a ends", "~a", "b begins"}));
    second.open = true;
    EXPECT_TRUE(driven.poll());
    EXPECT_EQ(driven.take(), 21);
    EXPECT_EQ(log.back(), "~sum");
    EXPECT_TRUE(driven.poll());  // done stays done
}

TEST(Protocol, DoesNotPauseWhereTheConditionHolds) {
    Gate first, second;
    first.open = second.open = true;
    Log log;
    Driven<int> driven(sum(first, second, log));
    EXPECT_TRUE(driven.poll());
    EXPECT_EQ(driven.take(), 21);
    EXPECT_EQ(first.asked, 1);
}

TEST(Protocol, AsksOnlyTheConditionThatItWaitsFor) {
    Gate first, second;
    Log log;
    Driven<int> driven(sum(first, second, log));
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(driven.poll());
    EXPECT_EQ(first.asked, 5);
    EXPECT_EQ(second.asked, 0);
}

TEST(Protocol, TwoAreDrivenIndependently) {
    Gate a, b, open;
    open.open = true;
    Log log;
    Driven<int> one(sum(a, open, log)), two(sum(b, open, log));
    EXPECT_FALSE(one.poll());
    EXPECT_FALSE(two.poll());
    b.open = true;
    EXPECT_FALSE(one.poll());
    EXPECT_TRUE(two.poll());
    a.open = true;
    EXPECT_TRUE(one.poll());
    EXPECT_EQ(one.take() + two.take(), 42);
}

TEST(Protocol, AnExceptionPassesThroughAllThatAwaitIt) {
    Gate gate;
    Driven<void> driven([](Gate& at) -> Protocol<> { co_await fail(at, "too bad"); }(gate));
    EXPECT_FALSE(driven.poll());
    gate.open = true;
    EXPECT_TRUE(driven.poll());
    try {
        driven.take();
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "too bad");
    }
}

TEST(Protocol, AnExceptionCanBeCaughtOnTheWay) {
    Gate gate;
    gate.open = true;
    Driven<std::string> driven(recover(gate));
    EXPECT_TRUE(driven.poll());
    EXPECT_EQ(driven.take(), "from within, caught");
}

TEST(Protocol, AbandonedInTheMiddleItDestroysWhatItHolds) {
    Gate first, second;
    first.open = true;
    Log log;
    {
        Driven<int> driven(sum(first, second, log));
        EXPECT_FALSE(driven.poll());
        log.clear();
    }
    EXPECT_EQ(log, (Log{"~b", "~sum"}));
}

TEST(Protocol, GivesResultsThatOnlyMove) {
    Gate gate;
    gate.open = true;
    Driven<std::unique_ptr<int>> driven(make_unique_later(gate));
    EXPECT_TRUE(driven.poll());
    EXPECT_EQ(*driven.take(), 7);
}

TEST(Protocol, LongLoopsNeedNoStack) {
    constexpr std::int64_t rounds = 100'000;
    Driven<std::int64_t> driven(count_to(rounds));
    EXPECT_TRUE(driven.poll());
    EXPECT_EQ(driven.take(), rounds);
}

TEST(Protocol, WhenAsksAFunction) {
    int polls = 0;
    Driven<void> driven([](int& asked) -> Protocol<> {
        When third([&] { return ++asked >= 3; });
        co_await until(third);
    }(polls));
    EXPECT_FALSE(driven.poll());
    EXPECT_FALSE(driven.poll());
    EXPECT_TRUE(driven.poll());
    EXPECT_EQ(polls, 3);
}

TEST(Call, IsDoneWithItsProtocolAndStaysSo) {
    Gate first, second;
    Log log;
    Call call(
        [](Gate& a, Gate& b, Log& to) -> Protocol<> { co_await sum(a, b, to); }(first, second, log),
        "the sum");
    EXPECT_EQ(call.text(), "the sum");
    EXPECT_FALSE(call.poll());
    EXPECT_FALSE(call.ended());
    first.open = second.open = true;
    EXPECT_TRUE(call.poll());
    EXPECT_TRUE(call.ended());
    EXPECT_TRUE(call.poll());
}

TEST(Call, ThrowsTheSameAtEveryPoll) {
    Gate gate;
    gate.open = true;
    Call call(fail(gate, "again"), "what fails");
    for (int i = 0; i < 3; ++i) {
        EXPECT_THROW(call.poll(), std::runtime_error);
        EXPECT_TRUE(call.ended());
    }
}

TEST(Call, ACheckThatThrowsEndsIt) {
    int asked = 0;
    Call call(
        [](int& times) -> Protocol<> {
            When broken([&]() -> bool {
                if (++times == 1) return false;
                throw std::runtime_error("MPI failed");
            });
            co_await until(broken);
        }(asked),
        "what is broken");
    EXPECT_FALSE(call.poll());
    EXPECT_THROW(call.poll(), std::runtime_error);
    EXPECT_TRUE(call.ended());
    EXPECT_THROW(call.poll(), std::runtime_error);
    EXPECT_EQ(asked, 2);  // nobody goes on behind the error
}

}  // namespace
}  // namespace hocket::comm
