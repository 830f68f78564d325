// SPDX-License-Identifier: BSD-3-Clause
// Which envelope meets which receive, on one process that sends to itself.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "comm/state.hpp"
#include "hocket/comm.hpp"
#include "task/matcher.hpp"
#include "task/member.hpp"
#include "task/open_receives.hpp"
#include "task/reply.hpp"

namespace hocket::task {
namespace {

class WithMpi : public testing::Environment {
    void SetUp() override { MPI_Init(nullptr, nullptr); }
    void TearDown() override { MPI_Finalize(); }
};
const auto* const with_mpi = testing::AddGlobalTestEnvironment(new WithMpi);

constexpr int envelope_tag = 3;

template <class T>
T finish(comm::Protocol<T> protocol) {
    comm::Driven<T> driven(std::move(protocol));
    while (!driven.poll()) {
    }
    return driven.take();
}

PostedReceive take(int source, int tag) {
    return {source, tag, "", true, {}};
}
PostedReceive peek(int source, int tag) {
    return {source, tag, "", false, {}};
}

class MatcherTest : public testing::Test {
  protected:
    MatcherTest() {
        auto& state = Comm::self().state();
        finish(state.open());
        link_ = &state.link();
        matcher_.open(*link_, envelope_tag, {0, 0, 0, 0, 0, 0, 0, 5});
    }
    // An envelope comes in; `send` tells it from others.
    void come(int source, int tag, std::int64_t send, const std::string& stream = "") {
        const Envelope envelope{source, tag, send, stream, {{Layout({3}, "(*)"), "float64", 8}},
                                {}};
        come(envelope);
    }
    void come(const Envelope& envelope) {
        KnownLayouts none;
        come(envelope.packed(none));
    }
    void come(const std::string& bytes) {
        comm::Requests requests;
        link_->send_text(requests, bytes, 0, envelope_tag);
        while (!requests.holds()) matcher_.pump();
        // Messages under way take a while.
        for (int i = 0; i < 1000; ++i) matcher_.pump();
    }
    std::int64_t send_of(const PostedReceive& wanted) const {
        return wanted.found ? wanted.found->send : -1;
    }

    comm::Link* link_ = nullptr;
    Matcher matcher_;
};

TEST_F(MatcherTest, APartingIsForWhoWaitsForThatTask) {
    Envelope departure;
    departure.source = 1;
    departure.departure = true;
    EXPECT_EQ(matcher_.departure_of(1), nullptr);
    come(departure);
    PostedReceive later = take(1, 6), anyone = take(-1, -1);
    matcher_.post(later);
    matcher_.post(anyone);
    ASSERT_NE(matcher_.departure_of(1), nullptr);
    EXPECT_TRUE(later.found && later.found->departure);
    EXPECT_FALSE(anyone.found);
    matcher_.withdraw(anyone);
}

TEST_F(MatcherTest, TakesEnvelopesInTheOrderOfTheirComing) {
    come(0, 5, 1);
    come(0, 5, 2);
    PostedReceive first = take(0, 5), second = take(0, 5), third = take(0, 5);
    matcher_.post(first);
    matcher_.post(second);
    matcher_.post(third);
    EXPECT_EQ(send_of(first), 1);
    EXPECT_EQ(send_of(second), 2);
    EXPECT_EQ(send_of(third), -1);
    come(0, 5, 3);
    EXPECT_EQ(send_of(third), 3);
}

TEST_F(MatcherTest, ServesReceivesInTheOrderOfTheirPosting) {
    PostedReceive any = take(-1, -1), exact = take(0, 5);
    matcher_.post(any);
    matcher_.post(exact);
    come(0, 5, 1);
    EXPECT_EQ(send_of(any), 1);
    EXPECT_EQ(send_of(exact), -1);
    come(0, 5, 2);
    EXPECT_EQ(send_of(exact), 2);
}

TEST_F(MatcherTest, PassesOverWhatDoesNotFit) {
    come(0, 5, 1);
    come(1, 6, 2);
    come(1, 5, 3);
    PostedReceive by_tag = take(-1, 6), by_source = take(1, -1), rest = take(-1, -1);
    matcher_.post(by_tag);
    matcher_.post(by_source);
    matcher_.post(rest);
    EXPECT_EQ(send_of(by_tag), 2);
    EXPECT_EQ(send_of(by_source), 3);
    EXPECT_EQ(send_of(rest), 1);
}

TEST_F(MatcherTest, AProbeLeavesTheEnvelopeWhereItIs) {
    PostedReceive early = peek(-1, -1), receive = take(0, -1);
    matcher_.post(early);
    matcher_.post(receive);
    come(0, 9, 1);
    EXPECT_EQ(send_of(early), 1);
    EXPECT_EQ(send_of(receive), 1);
    come(0, 9, 2);
    PostedReceive late = peek(-1, 9), again = peek(-1, 9), taken = take(-1, 9);
    matcher_.post(late);
    matcher_.post(again);
    matcher_.post(taken);
    EXPECT_EQ(send_of(late), 2);
    EXPECT_EQ(send_of(again), 2);
    EXPECT_EQ(send_of(taken), 2);
}

TEST_F(MatcherTest, WhatIsWithdrawnTakesNothing) {
    PostedReceive given_up = take(0, 5), other = take(0, 5);
    matcher_.post(given_up);
    matcher_.withdraw(given_up);
    matcher_.post(other);
    come(0, 5, 1);
    EXPECT_EQ(send_of(given_up), -1);
    EXPECT_EQ(send_of(other), 1);
}

// Task 1 sends and this one receives, at random times. Envelopes, announcements and replies are
// under way for a while. Task 2 sends to the same receives.
TEST_F(MatcherTest, ASenderFindsTheReceivesThatItsEnvelopesMeet) {
    std::mt19937 random(1);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    OpenReceives known;
    std::vector<std::shared_ptr<const OpenReceives::Send>> sends;
    std::list<PostedReceive> receives;
    std::deque<Envelope> envelopes, announcements;
    std::deque<std::int64_t> replies;
    std::set<const PostedReceive*> ended;
    const auto end_receives = [&] {
        for (const PostedReceive& each : receives)
            if (each.found && ended.insert(&each).second && !each.announced &&
                each.found->source == 1)
                replies.push_back(each.found->send);
    };
    const auto receive = [&] {
        PostedReceive& wanted = receives.emplace_back(take(below(12) == 0 ? -1 : 1, below(4) - 1));
        matcher_.post(wanted);
        wanted.announced = wanted.source == 1 && matcher_.may_announce(wanted);
        if (!wanted.announced) return;
        Envelope announcement{0, wanted.tag, matcher_.last_of(1), "", {}, {}};
        announcement.persistent_id = static_cast<std::int64_t>(receives.size());
        announcements.push_back(std::move(announcement));
    };
    const auto go_on = [&](int what) {
        if (what == 0 && !envelopes.empty()) {
            come(envelopes.front());
            envelopes.pop_front();
        } else if (what == 1 && !announcements.empty()) {
            known.add(std::move(announcements.front()));
            announcements.pop_front();
        } else if (what == 2 && !replies.empty()) {
            known.forget(replies.front());
            replies.pop_front();
        }
        end_receives();
    };
    for (int step = 0; step < 6000; ++step) {
        const bool receives_first = step / 20 % 2 == 0;  // in turns
        const int what = below(8);
        if (what < 3 && !receives_first) {
            const auto ticket = static_cast<std::int64_t>(sends.size());
            const int tag = below(3);
            sends.push_back(known.meet(ticket, tag));
            envelopes.push_back({1, tag, ticket, "", {}, {}});
        } else if (what < 3) {
            receive();
        } else if (what == 3 && below(6) == 0) {
            come(2, below(3), step);
        } else {
            go_on((what - 4) % 3);
        }
        end_receives();
    }
    while (!envelopes.empty() || !announcements.empty() || !replies.empty()) go_on(below(3));
    std::int64_t number = 0, met = 0, others = 0;
    std::set<std::int64_t> taken;
    for (const PostedReceive& each : receives) {
        ++number;
        if (!each.found || each.found->source != 1) continue;
        taken.insert(each.found->send);
        const auto& there = sends[static_cast<std::size_t>(each.found->send)]->receive;
        ASSERT_EQ(there.has_value(), each.announced) << number;
        if (!there) {
            ++others;
        } else {
            ++met;
            EXPECT_EQ(there->persistent_id, number);
        }
    }
    EXPECT_GT(met, 50);
    EXPECT_GT(others, 50);
    for (const auto& send : sends) EXPECT_TRUE(taken.contains(send->ticket) || !send->receive);
}

TEST_F(MatcherTest, StreamsDoNotMix) {
    come(0, 5, 1, "other");
    come(0, 5, 2);
    PostedReceive any = take(-1, -1);
    matcher_.post(any);
    EXPECT_EQ(send_of(any), 2);
    PostedReceive other = take(0, 5);
    other.stream = "other";
    matcher_.post(other);
    EXPECT_EQ(send_of(other), 1);
}

TEST_F(MatcherTest, AnUnreadableEnvelopeIsAnErrorOfItsReceive) {
    KnownLayouts none;
    const Envelope sent{1, 5, 9, "", {{Layout({3}, "(*)"), "float64", 8}}, {}};
    // The second is too long for a ring of words.
    for (const std::size_t more : {std::size_t{0}, std::size_t{1000000}}) {
        std::string bytes = sent.packed(none);
        bytes.resize(bytes.size() - 2);
        come(bytes + std::string(more, '\xff'));
        come(1, 5, 10);
        PostedReceive first = take(1, 5), second = take(1, 5);
        matcher_.post(first);
        matcher_.post(second);
        ASSERT_TRUE(first.found && second.found);
        EXPECT_TRUE(first.found->unreadable);
        EXPECT_NE(first.found->fault.message, "");
        EXPECT_EQ(send_of(first), 9);
        EXPECT_FALSE(second.found->unreadable);
        EXPECT_EQ(send_of(second), 10);
    }
}

TEST_F(MatcherTest, AnEnvelopeWithoutAValidBeginningIsDropped) {
    for (const int source : {7, 8, -1}) {  // task 7 has another process, the others do not exist
        EXPECT_THROW(come(source, 5, 1), Error);
        for (int i = 0; i < 1000; ++i) matcher_.pump();
    }
    come(0, 5, 2);
    PostedReceive any = take(-1, -1);
    matcher_.post(any);
    EXPECT_EQ(send_of(any), 2);
}

TEST_F(MatcherTest, AnEnvelopeArrivesAsItWasSent) {
    const Envelope sent{2,
                        7,
                        (std::int64_t{1} << 40) + 1,
                        "channel 'pictures'",
                        {{Layout({3}, "(BLOCK)", {2}), "V12", 12}, {std::nullopt, "int8", 1}},
                        {"LayoutError", "why there is no message"}};
    KnownLayouts known;
    std::vector<KnownLayouts> by_task(3);
    const std::string bytes = sent.packed(known);
    const Envelope come = Envelope::unpacked(bytes, by_task);
    EXPECT_EQ(come.source, 2);
    EXPECT_EQ(come.tag, 7);
    EXPECT_EQ(come.send, sent.send);
    EXPECT_EQ(come.stream, sent.stream);
    ASSERT_EQ(come.descriptors.size(), 2U);
    EXPECT_EQ(come.descriptors[0].value().text(), "(3) (BLOCK) @ (2)");
    EXPECT_EQ(come.descriptors[0].dtype, "V12");
    EXPECT_EQ(come.descriptors[0].itemsize, 12);
    EXPECT_EQ(come.descriptors[1].dtype, "int8");
    EXPECT_THROW(come.descriptors[1].value(), Error);
    EXPECT_EQ(come.fault.kind, "LayoutError");
    EXPECT_EQ(come.fault.message, sent.fault.message);
    EXPECT_THROW(Envelope::unpacked(bytes.substr(0, 10), by_task), Error);
    by_task.resize(2);
    EXPECT_THROW(Envelope::unpacked(bytes, by_task), Error);
}

// Of 100 000 elements, in an order that no rule describes.
Layout long_layout(std::int64_t number) {
    std::vector<std::vector<std::int64_t>> lists(2);
    for (std::int64_t i = 0; i < 100000; ++i)
        lists[static_cast<std::size_t>(i % 2)].push_back((i * 7919 + number) % 100000);
    return Layout::elements({100000}, lists);
}

Envelope envelope_of(std::vector<Layout> layouts) {
    Envelope sent{1, 7, 0, "", {}, {}};
    for (Layout& layout : layouts) sent.descriptors.push_back({std::move(layout), "float64", 8});
    return sent;
}

TEST(KnownLayouts, ALongLayoutTravelsOnceThenAsADigest) {
    KnownLayouts sender;
    std::vector<KnownLayouts> receiver(2);
    const std::size_t empty = envelope_of({Layout({3}, "(*)")}).packed(sender).size();
    std::vector<std::size_t> sizes;
    // The same layout made anew each time, another one, and both in one message.
    for (const auto& numbers : std::vector<std::vector<std::int64_t>>{{0}, {0}, {5}, {0}, {5, 0}}) {
        std::vector<Layout> layouts;
        for (const std::int64_t number : numbers) layouts.push_back(long_layout(number));
        const std::string bytes = envelope_of(layouts).packed(sender);
        sizes.push_back(bytes.size());
        const Envelope come = Envelope::unpacked(bytes, receiver);
        ASSERT_EQ(come.descriptors.size(), layouts.size());
        for (std::size_t k = 0; k < layouts.size(); ++k)
            EXPECT_EQ(come.descriptors[k].value(), layouts[k]);
    }
    EXPECT_GT(sizes[0], 100000U);
    EXPECT_LT(sizes[0], 500000U);
    EXPECT_LT(sizes[1], empty + 17);
    EXPECT_GT(sizes[2], 100000U);
    EXPECT_LT(sizes[3], empty + 17);
    EXPECT_LT(sizes[4], empty + 80);
}

TEST(KnownLayouts, BothSidesForgetTheSameOnes) {
    std::vector<Layout> layouts;
    for (std::int64_t k = 0; k < 20; ++k) {
        std::vector<std::vector<std::int64_t>> lists(1);
        for (std::int64_t i = 0; i < 60; ++i) lists[0].push_back((i * 37 + k) % 60);
        layouts.push_back(Layout::elements({60}, lists));
    }
    KnownLayouts sender;
    std::vector<KnownLayouts> receiver(2);
    std::size_t random = 1;
    for (int round = 0; round < 500; ++round) {
        random = random * 1103515245 + 12345;
        const Layout& layout = layouts[random / 65536 % layouts.size()];
        const Envelope come = Envelope::unpacked(envelope_of({layout}).packed(sender), receiver);
        ASSERT_EQ(come.descriptors[0].value(), layout);
    }
}

TEST(KnownLayouts, AnErrorLeavesThemAsTheyWere) {
    KnownLayouts sender, receiver;
    Packer packer;
    pack(packer, envelope_of({long_layout(0), long_layout(1)}).descriptors, sender);
    const std::string bytes = packer.take();
    Unpacker cut(std::string_view(bytes).substr(0, bytes.size() - 1)), whole(bytes);
    EXPECT_THROW(unpack_descriptors(cut, receiver), Error);
    EXPECT_TRUE(receiver.offer().empty());
    EXPECT_EQ(unpack_descriptors(whole, receiver).size(), 2U);
    EXPECT_EQ(receiver.offer(), sender.offer());
}

TEST(KnownLayouts, AReplyNamesOfferedLayoutsByTheirDigests) {
    const Layout first = long_layout(0), second = long_layout(1);
    KnownLayouts replied;
    replied.keep(first);
    const KnownLayouts offered = replied.recent();
    ASSERT_EQ(offered.offer().size(), 1U);
    const KnownLayouts there(offered.offer());
    const std::string bytes = packed_reply(envelope_of({first}), there);
    EXPECT_LT(bytes.size(), 400U);
    EXPECT_EQ(unpacked_reply(bytes, offered).descriptors[0].value(), first);
    EXPECT_THROW(unpacked_reply(bytes), Error);
    const std::string whole = packed_reply(envelope_of({second}), there);
    EXPECT_EQ(unpacked_reply(whole, offered).descriptors[0].value(), second);
    replied.keep(Layout({3}, "(*)"));  // short: not worth an offer
    EXPECT_EQ(replied.offer().size(), 1U);
}

TEST(Tags, NeverShareOneBetweenPurposes) {
    constexpr int tasks = 3, highest = 400;
    const Tags tags(tasks, highest);
    std::set<int> used;
    // (400 + 1 - 6) / 30 = 13 numbers for each task and purpose, used in turn; 12 for trees.
    for (int task = 0; task < tasks; ++task) {
        EXPECT_TRUE(used.insert(tags.envelope(task)).second);
        EXPECT_TRUE(used.insert(tags.news(task)).second);
        EXPECT_TRUE(used.insert(tags.decision(task)).second);
        for (std::int64_t number = 0; number < 12; ++number)
            EXPECT_TRUE(used.insert(tags.tree(task, number)).second);
        for (std::int64_t number = 0; number < 13; ++number)
            for (const int tag :
                 {tags.reply(task, number), tags.data(task, number),
                  tags.persistent_id(task, number), tags.among(Side::source, task, number),
                  tags.among(Side::destination, task, number),
                  tags.persistent_among(Side::source, task, number),
                  tags.persistent_among(Side::destination, task, number)}) {
                EXPECT_TRUE(used.insert(tag).second);
                EXPECT_LE(tag, highest);
                EXPECT_GE(tag, 0);
            }
        EXPECT_EQ(tags.data(task, std::int64_t{13} << 40), tags.data(task, 0));
        EXPECT_EQ(tags.tree(task, std::int64_t{12} << 40), tags.tree(task, 0));
    }
    for (std::int64_t number = 0; number < 13; ++number)
        for (const int tag : {tags.meeting_of_all(number), tags.data_of_all(number)}) {
            EXPECT_TRUE(used.insert(tag).second);
            EXPECT_LE(tag, highest);
        }
    EXPECT_THROW(Tags(100, 200), Error);
}

TEST(Tags, AreAsManyAsThereAre) {
    // A call may be under way while ten million others come and go.
    constexpr int highest = std::numeric_limits<int>::max() - 2;
    const Tags tags(5, highest);
    for (const std::int64_t number : {65535, 65536, 10'000'000, 40'000'000}) {
        EXPECT_NE(tags.data(4, number), tags.data(4, 0));
        EXPECT_NE(tags.tree(4, number), tags.tree(4, 0));
        EXPECT_NE(tags.persistent_id(4, number), tags.persistent_id(4, 0));
        EXPECT_LE(tags.persistent_among(Side::destination, 4, number), highest);
        EXPECT_GE(tags.persistent_among(Side::destination, 4, number), 0);
    }
}

TEST(Rounds, SetUpTasksThatShareNoProcessAtOnce) {
    using Ranks = std::vector<std::vector<int>>;
    EXPECT_EQ(rounds({{0, 1}, {2}, {3}}, 4), (Ranks{{0, 0, 1, 2}}));
    // The second overlaps both others, which do not overlap each other.
    EXPECT_EQ(rounds({{0, 1}, {2, 1}, {2, 3}}, 4), (Ranks{{0, 0, 2, 2}, {-1, 1, 1, -1}}));
    Ranks single;
    for (int rank = 0; rank < 1000; ++rank) single.push_back({rank});
    EXPECT_EQ(rounds(single, 1000).size(), 1u);
}

}  // namespace
}  // namespace hocket::task
