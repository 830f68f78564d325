// SPDX-License-Identifier: BSD-3-Clause
// What a transfer says to the other process when it goes wrong, on one process that is both.
#include <gtest/gtest.h>
#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "hocket/array.hpp"
#include "hocket/comm.hpp"
#include "transfer/executor.hpp"
#include "transport/rendezvous.hpp"

namespace hocket::transfer {
namespace {

using transport::Route;

class RunnerTest : public testing::TestWithParam<std::int64_t> {
  protected:
    RunnerTest()
        : layout_({GetParam()}, "(*)"),
          from_(Array::empty(layout_, {"float64", 8}, Comm::self())),
          to_(Array::empty(layout_, {"float64", 8}, Comm::self())) {
        auto& state = Comm::self().state();
        comm::Driven<void> opening(state.open());
        while (!opening.poll()) {
        }
        opening.take();
        link_ = &state.link();
    }
    std::shared_ptr<const Schedule> schedule(bool sending) const {
        plan::Options options;
        options.itemsize = 8;
        const LocalView nowhere;
        return cached_schedule(layout_, layout_, options, sending ? local_view_of(from_) : nowhere,
                               sending ? nowhere : local_view_of(to_));
    }
    std::unique_ptr<Executor> runner(bool sending, std::int64_t call) {
        return std::make_unique<Executor>(schedule(sending), Route{link_, {0}, {0}, tag, call},
                                          watch_);
    }
    // The error of `poll`; nothing, if it completes first.
    static std::string thrown(const std::function<bool()>& poll) {
        try {
            for (int i = 0; i < 100'000; ++i)
                if (poll()) return "nothing";
        } catch (const Error& error) {
            return error.what();
        }
        return "nothing, and it is not done";
    }

    static constexpr int tag = 5;
    Layout layout_;
    Array from_, to_;
    comm::Link* link_ = nullptr;
    Stopwatch watch_{nullptr};
};

// For messages over a channel.
class LongRunnerTest : public RunnerTest {};

TEST_P(RunnerTest, ArrivesWithoutAnMpiMessage) {
    const auto before = link_->unreceived();
    auto* const data = static_cast<double*>(from_.data());
    for (std::int64_t i = 0; i < GetParam(); ++i) data[i] = static_cast<double>(i);
    auto send = runner(true, 1), receive = runner(false, 1);
    send->start(from_.data(), nullptr);
    EXPECT_EQ(link_->unreceived(), before);
    receive->start(nullptr, to_.data());
    EXPECT_EQ(thrown([&] {
                  const bool sent = send->poll(), received = receive->poll();
                  return sent && received;
              }),
              "nothing");
    const auto* const there = static_cast<const double*>(to_.data());
    for (std::int64_t i = 0; i < GetParam(); ++i) ASSERT_EQ(there[i], static_cast<double>(i));
}

TEST_P(LongRunnerTest, OneThatIsDroppedUnderWayTellsTheOtherEnd) {
    auto send = runner(true, 2), receive = runner(false, 2);
    send->start(from_.data(), nullptr);
    receive->start(nullptr, to_.data());
    send.reset();
    EXPECT_NE(thrown([&] { return receive->poll(); }).find("given up before it was done"),
              std::string::npos);
    send = runner(true, 3);
    receive = runner(false, 3);
    send->start(from_.data(), nullptr);
    receive->start(nullptr, to_.data());
    EXPECT_FALSE(receive->poll());
    receive.reset();
    EXPECT_NE(thrown([&] { return send->poll(); }).find("given up before it was done"),
              std::string::npos);
}

// A refusal that no sender ever looked for, and words that no receiver did.
TEST_P(RunnerTest, WordsOfAnEarlierCallAreNotHeard) {
    const Route earlier{link_, {0}, {0}, tag, 4};
    transport::send_refusal(earlier, schedule(false)->receives[0], "stale");
    transport::send_failure(earlier, schedule(true)->sends[0], "stale");
    auto send = runner(true, 5), receive = runner(false, 5);
    send->start(from_.data(), nullptr);
    EXPECT_EQ(thrown([&] {
                  send->poll();
                  return true;
              }),
              "nothing");
    receive->start(nullptr, to_.data());
    EXPECT_EQ(thrown([&] {
                  const bool sent = send->poll(), received = receive->poll();
                  return sent && received;
              }),
              "nothing");
}

// More messages than a ring can hold, whose sender never polls them.
TEST_P(LongRunnerTest, MailGoesOnItsWayWhateverBecomesOfItsCall) {
    const std::string text(100'000, 'x');
    const auto sent = link_->send_in_node(0, comm::Link::Purpose::data, tag + 2, text);
    EXPECT_FALSE(link_->delivered_in_node(0, sent));
    std::optional<std::string> outcome_text;
    for (int i = 0; i < 1000 && !outcome_text; ++i) {
        const comm::EngineLock engine_lock;
        comm::Engine::instance().progress();
        outcome_text = link_->receive_in_node(0, comm::Link::Purpose::data, tag + 2);
    }
    EXPECT_EQ(outcome_text, text);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RunnerTest, testing::Values(1, 512, 100'000));
INSTANTIATE_TEST_SUITE_P(Long, LongRunnerTest, testing::Values(100'000));

}  // namespace
}  // namespace hocket::transfer
