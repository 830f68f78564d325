// SPDX-License-Identifier: BSD-3-Clause
// Messages to processes that MPI does not reach.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "comm/endpoint.hpp"
#include "comm/joining.hpp"
#include "unit/comm/conformance.hpp"
#include "unit/comm/toy_stream.hpp"

namespace hocket::comm::testing {
namespace {

/// Two processes without MPI.
struct ToyLinks {
    ToyLinks() {
        auto [of_a, of_b] = ToyStream::two();
        a_.add_endpoints(0, {nullptr, std::make_shared<Endpoint>(std::move(of_a))});
        b_ = std::make_unique<Link>();
        b_->add_endpoints(1, {std::make_shared<Endpoint>(std::move(of_b)), nullptr});
    }
    Link& a() { return a_; }
    Link& b() { return *b_; }
    static int rank_of_a() { return 0; }
    static int rank_of_b() { return 1; }
    void lose_b() { b_.reset(); }
    Link a_;
    std::unique_ptr<Link> b_;
};

/// A process and itself.
struct Alone {
    Link& a() { return link_; }
    Link& b() { return link_; }
    static int rank_of_a() { return 0; }
    static int rank_of_b() { return 0; }
    Link link_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Toy, LinkConformance, ::testing::Types<ToyLinks>);
INSTANTIATE_TYPED_TEST_SUITE_P(Loopback, LinkConformance, ::testing::Types<Alone>);

struct Endpoints {
    Endpoints() {
        auto [to_b, to_a] = ToyStream::two();
        a = std::make_unique<Endpoint>(std::move(to_b));
        b = std::make_unique<Endpoint>(std::move(to_a));
    }
    void poll(int times = 100) const {
        for (int i = 0; i < times; ++i) {
            a->poll();
            b->poll();
        }
    }
    std::unique_ptr<Endpoint> a, b;
};

TEST(Endpoint, KeepsTheSenderOfMessagesThatNobodyReceives) {
    const Endpoints ends;
    const std::string text = text_of(10'000, 1);
    std::vector<Endpoint::Handle> sent;
    for (int i = 0; i < 1000; ++i) sent.push_back(ends.a->send(text.data(), 10'000, 1));
    ends.poll();
    const auto gone =
        std::count_if(sent.begin(), sent.end(), [](const auto& each) { return each->done(); });
    EXPECT_GT(gone, 50);
    EXPECT_LT(gone, 110);  // a window of 1 MiB
    std::string received(10'000, '?');
    for (int i = 0; i < 1000; ++i) {
        const auto each = ends.b->receive(received.data(), 10'000, 1);
        ASSERT_TRUE(holds_soon([&] {
            ends.poll(1);
            return each->done();
        }));
        ASSERT_TRUE(received == text);
    }
    for (const auto& each : sent) EXPECT_TRUE(each->done());
}

TEST(Endpoint, ASendThatIsGivenUpIsAnErrorAtItsReceive) {
    for (const int polls : {0, 1, 3, 20}) {  // before, and while it travels
        const Endpoints ends;
        auto data = std::make_unique<std::string>(text_of(20'000'000, 1));
        std::string received(20'000'000, '?');
        const auto sent = ends.a->send(data->data(), 20'000'000, 1);
        const auto taken = ends.b->receive(received.data(), 20'000'000, 1);
        ends.poll(polls);
        ends.a->cancel(*sent);
        data.reset();
        try {
            const bool done = holds_soon([&] {
                ends.poll(1);
                return ends.b->done(*taken);
            });
            EXPECT_TRUE(done && polls == 20) << "it came nevertheless";
        } catch (const PeerLostError&) {
            ADD_FAILURE() << "it is there";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("process 0 of 'a'"), std::string::npos);
            EXPECT_NE(std::string(error.what()).find("gave this message up"), std::string::npos);
        }
        // The next message of the tag is whole.
        const std::string next = text_of(70'000, 2);
        std::string second(70'000, '?');
        const auto after = ends.a->send(next.data(), 70'000, 1);
        const auto last = ends.b->receive(second.data(), 70'000, 1);
        ASSERT_TRUE(holds_soon([&] {
            ends.poll(1);
            return after->done() && last->done();
        }));
        EXPECT_TRUE(second == next);
    }
}

TEST(Endpoint, AReceiveThatIsGivenUpIsNotWrittenTo) {
    const Endpoints ends;
    const std::string text = text_of(20'000'000, 1);
    std::string received(text.size(), '?');
    const auto sent = ends.a->send(text.data(), 20'000'000, 1);
    const auto taken = ends.b->receive(received.data(), 20'000'000, 1);
    ends.poll(3);
    ends.b->cancel(*taken);
    const std::string before = received;
    ASSERT_TRUE(holds_soon([&] {
        ends.poll(1);
        return sent->done();
    }));
    EXPECT_TRUE(received == before);
}

TEST(Endpoint, AMessageLongerThanItsReceiveIsAnErrorThere) {
    for (const std::int64_t bytes : {std::int64_t{100}, std::int64_t{100'000}}) {
        const Endpoints ends;
        const std::string text = text_of(bytes, 1);
        std::string received(64, '?');
        const auto sent = ends.a->send(text.data(), bytes, 1);
        const auto taken = ends.b->receive(received.data(), 64, 1);
        ends.poll();
        EXPECT_THROW(ends.b->done(*taken), Error);
        EXPECT_EQ(received, std::string(64, '?'));
        EXPECT_TRUE(sent->done());
    }
}

TEST(Endpoint, BytesThatAreNoMessageLoseIt) {
    auto [to_b, to_a] = ToyStream::two();
    Endpoint a(std::move(to_b));
    const std::string noise(100, '\x7f');
    EXPECT_EQ(to_a->write(noise.data(), 100), 100);
    a.poll();
    EXPECT_TRUE(a.lost());
    EXPECT_THROW(a.require_present(), PeerLostError);
}

// A sender that keeps to the window never sends so much.
TEST(Endpoint, MoreThanTheWindowLosesIt) {
    auto [to_b, to_a] = ToyStream::two();
    Endpoint a(std::move(to_b));
    struct {
        std::int32_t kind = 0, tag = 1;
        std::int64_t number = 0, bytes = Endpoint::eager_limit;
    } header;
    const std::string payload = text_of(Endpoint::eager_limit, 1);
    const std::string message =
        std::string(reinterpret_cast<const char*>(&header), sizeof header) + payload;
    for (std::int64_t sent = 0; sent <= Endpoint::eager_window; sent += Endpoint::eager_limit)
        for (std::size_t at = 0; at < message.size(); a.poll())
            at += static_cast<std::size_t>(
                to_a->write(message.data() + at, static_cast<std::int64_t>(message.size() - at)));
    EXPECT_TRUE(a.lost());
}

TEST(Endpoint, AnnouncesInOneByteOrderOnEveryMachine) {
    auto [to_b, to_a] = ToyStream::two();
    Endpoint a(std::move(to_b));
    const auto sent = a.send("xy", 2, 0x01020304);
    EXPECT_TRUE(holds_soon([&] {
        a.poll();
        return a.done(*sent);
    }));
    std::array<unsigned char, 27> come{};
    EXPECT_EQ(to_a->read(come.data(), 27), 26);
    const std::array<unsigned char, 27> wanted{0, 0, 0, 0, 4, 3, 2, 1, 0, 0, 0,   0,   0, 0,
                                               0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 'x', 'y', 0};
    EXPECT_EQ(come, wanted);
}

TEST(Joining, GivesProcessesOfTwoJobsOneLink) {
    for (const char* const host : {"", "b"}) {  // on one node, and on two
        auto [of_a, of_b] = ToyStream::two();
        Driven<OwnedLink> joining_a(join(
            OwnedLink(new Link), 0, {nullptr, std::make_shared<Endpoint>(std::move(of_a))}, ""));
        Driven<OwnedLink> joining_b(join(
            OwnedLink(new Link), 1, {std::make_shared<Endpoint>(std::move(of_b)), nullptr}, host));
        ASSERT_TRUE(holds_soon([&] {
            const bool a = joining_a.poll(), b = joining_b.poll();
            return a && b;
        }));
        const OwnedLink a = joining_a.take(), b = joining_b.take();
        EXPECT_EQ(a->rank(), 0);
        EXPECT_EQ(b->rank(), 1);
        EXPECT_EQ(a->size(), 2);
        EXPECT_EQ(a->highest_tag(), b->highest_tag());
        EXPECT_EQ(a->node(0) == a->node(1), host[0] == '\0');
        EXPECT_EQ(b->node(0) == b->node(1), host[0] == '\0');
    }
}

}  // namespace
}  // namespace hocket::comm::testing
