// SPDX-License-Identifier: BSD-3-Clause
// When a process finds out what its messages copy from where, on one process that is all of both
// sides.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "hocket/comm.hpp"
#include "hocket/layout.hpp"
#include "transfer/local_view.hpp"
#include "transfer/schedule.hpp"
#include "transport/buffers.hpp"
#include "transport/net_pieces.hpp"

namespace hocket::transfer {
namespace {

using transport::Message;
using transport::NetPieces;

constexpr std::int64_t elements = 4096;
constexpr int receivers = 8;

std::size_t worked_out(const std::vector<Message>& side) {
    return static_cast<std::size_t>(std::count_if(
        side.begin(), side.end(), [](const Message& message) { return message.worked_out(); }));
}

class WorkTest : public testing::Test {
  protected:
    WorkTest()
        : source_({elements}, "(*)"),
          destination_({elements}, "(CYCLIC)", {receivers}),
          from_(elements),
          to_(elements / receivers, -1) {
        std::iota(from_.begin(), from_.end(), 0.0);
        auto& state = Comm::self().state();
        comm::Driven<void> opening(state.open());
        while (!opening.poll()) {
        }
        opening.take();
        link_ = &state.link();
    }
    Schedule work(LocalView source, LocalView destination) const {
        plan::Options options;
        options.itemsize = 8;
        return plan_schedule(Plan(source_, destination_, options), source, destination);
    }

    Layout source_, destination_;
    std::vector<double> from_, to_;
    comm::Link* link_ = nullptr;
};

// The schedule of a message is computed when the one before is on its way.
TEST_F(WorkTest, EachMessageIsWorkedOutWhenItIsSent) {
    const LocalView nowhere;
    const Schedule out = work({0, {8}, true}, nowhere);
    const transport::Route route{link_, {0}, std::vector<int>(receivers, 0), 5, 1};
    ASSERT_EQ(out.sends.size(), std::size_t{receivers});
    EXPECT_EQ(worked_out(out.sends), 0U);
    for (const Message& message : out.sends) EXPECT_EQ(message.bytes, 8 * to_.size());

    const comm::EngineLock engine_lock;
    const std::size_t messages = out.sends.size();
    std::vector<std::size_t> all(messages);
    std::iota(all.begin(), all.end(), std::size_t{0});
    NetPieces sending(true, out, all, route, transport::default_buffers());
    transport::ScheduleRun run;
    run.source = reinterpret_cast<std::byte*>(from_.data());
    run.destination = reinterpret_cast<std::byte*>(to_.data());
    sending.begin(run);
    sending.send(messages);
    for (std::size_t i = 0; i < messages; ++i) {
        ASSERT_TRUE(sending.start_next());
        EXPECT_EQ(worked_out(out.sends), i + 1);
        // It arrives before the next one is worked out.
        const std::int64_t receiver = out.sends[i].peer;
        const Schedule in = work(nowhere, {receiver, {8}, true});
        EXPECT_EQ(worked_out(in.receives), 0U);
        NetPieces receiving(false, in, {0}, route, transport::default_buffers());
        std::fill(to_.begin(), to_.end(), -1);
        receiving.begin(run);
        while (!receiving.finished()) receiving.poll();
        for (std::size_t k = 0; k < to_.size(); ++k)
            ASSERT_EQ(to_[k],
                      static_cast<double>(receiver + static_cast<std::int64_t>(k) * receivers));
    }
    while (!sending.finished()) sending.poll();
    EXPECT_TRUE(sending.finished());
}

}  // namespace
}  // namespace hocket::transfer
