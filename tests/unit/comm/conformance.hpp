// SPDX-License-Identifier: BSD-3-Clause
// What a link promises, whatever its messages travel by. A maker gives two ends in this process:
//
//     struct Maker {
//         comm::Link& a();        // one end
//         comm::Link& b();        // the other; may be the same link
//         int rank_of_a(), rank_of_b();
//         void lose_b();          // b ends without a word; without it, this is not tested
//     };
//     INSTANTIATE_TYPED_TEST_SUITE_P(Mine, LinkConformance, testing::Types<Maker>);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/link.hpp"
#include "hocket/error.hpp"

namespace hocket::comm::testing {

inline std::string text_of(std::int64_t bytes, int seed) {
    std::string text(static_cast<std::size_t>(bytes), '\0');
    for (std::size_t i = 0; i < text.size(); ++i)
        text[i] = static_cast<char>(i * 31 + i / 251 + static_cast<std::size_t>(seed));
    return text;
}

/// Polls until the function is true; false after some seconds.
inline bool holds_soon(const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition())
        if (std::chrono::steady_clock::now() > until) return false;
    return true;
}

template <class T>
T finish(
    Protocol<T> protocol, const std::function<void()>& meanwhile = [] {}) {
    Driven<T> driven(std::move(protocol));
    EXPECT_TRUE(holds_soon([&] {
        meanwhile();
        return driven.poll();
    }));
    return driven.take();
}

template <class Maker>
class LinkConformance : public ::testing::Test {
  protected:
    Link& a() { return maker_.a(); }
    Link& b() { return maker_.b(); }
    int rank_of_a() { return maker_.rank_of_a(); }
    int rank_of_b() { return maker_.rank_of_b(); }

    /// Messages from a to b with tags of their own, and what b has received of them.
    struct Sent {
        std::string text, received;
        int tag;
    };
    void start_sends(Requests& requests, std::vector<Sent>& all) {
        for (Sent& each : all)
            a().send(requests, each.text.data(), static_cast<std::int64_t>(each.text.size()),
                     rank_of_b(), each.tag);
    }
    void start_receive(Requests& requests, Sent& each) {
        each.received.assign(each.text.size(), '?');
        b().receive(requests, each.received.data(), static_cast<std::int64_t>(each.text.size()),
                    rank_of_a(), each.tag);
    }
    static bool done(Requests& one, Requests& other) {
        return holds_soon([&] {
            const bool first = one.holds(), second = other.holds();
            return first && second;
        });
    }
    static void expect_equal(const std::vector<Sent>& all) {
        for (const Sent& each : all) {
            ASSERT_EQ(each.received.size(), each.text.size());
            ASSERT_TRUE(each.received == each.text) << each.text.size() << " bytes, " << each.tag;
        }
    }
    Maker maker_;
};

TYPED_TEST_SUITE_P(LinkConformance);

constexpr std::int64_t sizes[] = {0, 1, 4096, 100'000, 5'000'000};

TYPED_TEST_P(LinkConformance, KeepsTheOrderOfATag) {
    for (const bool early : {true, false}) {
        std::vector<typename TestFixture::Sent> all;
        for (int i = 0; i < 40; ++i) all.push_back({text_of(sizes[i % 4] + i, i), "", 7});
        Requests out, in;
        if (!early) this->start_sends(out, all);
        for (auto& each : all) this->start_receive(in, each);
        if (early) this->start_sends(out, all);
        ASSERT_TRUE(this->done(out, in));
        this->expect_equal(all);
    }
}

TYPED_TEST_P(LinkConformance, CarriesTexts) {
    for (const std::int64_t bytes : sizes) {
        const std::string text = text_of(bytes, 3);
        Driven<void> out(send_text(this->a(), text, this->rank_of_b(), 5));
        bool gone = false;
        const TextMessage message = finish(receive_text(this->b(), this->rank_of_a(), 5),
                                           [&] { gone = gone || out.poll(); });
        EXPECT_EQ(message.from, this->rank_of_a());
        EXPECT_TRUE(message.text == text);
        EXPECT_TRUE(holds_soon([&] { return gone = gone || out.poll(); }));
        out.take();
    }
}

TYPED_TEST_P(LinkConformance, LosesNothingThatNobodyReceivesYet) {
    std::vector<typename TestFixture::Sent> all;
    for (int i = 0; i < 300; ++i) all.push_back({text_of(i % 3 == 0 ? 50'000 : 9'000, i), "", 9});
    Requests out, in;
    this->start_sends(out, all);
    for (int i = 0; i < 1000; ++i) {
        out.holds();
        static_cast<void>(this->b().probe(this->rank_of_a(), 8));
    }
    for (auto& each : all) this->start_receive(in, each);
    ASSERT_TRUE(this->done(out, in));
    this->expect_equal(all);
}

TYPED_TEST_P(LinkConformance, NoTagWaitsForAnother) {
    std::vector<typename TestFixture::Sent> first{{text_of(5'000'000, 1), "", 1}};
    std::vector<typename TestFixture::Sent> second{{text_of(100'000, 2), "", 2}};
    Requests first_out, second_out, in;
    this->start_sends(first_out, first);
    this->start_sends(second_out, second);
    this->start_receive(in, second[0]);
    ASSERT_TRUE(this->done(second_out, in));
    this->expect_equal(second);
    this->start_receive(in, first[0]);
    ASSERT_TRUE(this->done(first_out, in));
    this->expect_equal(first);
}

TYPED_TEST_P(LinkConformance, CarriesBothDirectionsAtOnce) {
    std::string there = text_of(5'000'000, 1), back = text_of(5'000'000, 2);
    std::string at_a(there.size(), '?'), at_b(back.size(), '?');
    const auto bytes = static_cast<std::int64_t>(there.size());
    Requests of_a, of_b;
    this->a().send(of_a, there.data(), bytes, this->rank_of_b(), 1);
    this->b().send(of_b, back.data(), bytes, this->rank_of_a(), 2);
    this->a().receive(of_a, at_a.data(), bytes, this->rank_of_b(), 2);
    this->b().receive(of_b, at_b.data(), bytes, this->rank_of_a(), 1);
    ASSERT_TRUE(this->done(of_a, of_b));
    EXPECT_TRUE(at_a == back);
    EXPECT_TRUE(at_b == there);
}

TYPED_TEST_P(LinkConformance, InterleavesAHundredTags) {
    std::vector<typename TestFixture::Sent> all;
    for (int i = 0; i < 100; ++i) all.push_back({text_of(1 + 1777 * i, i), "", 10 + i});
    Requests out, in;
    this->start_sends(out, all);
    for (std::size_t i = all.size(); i-- > 0;) this->start_receive(in, all[i]);
    ASSERT_TRUE(this->done(out, in));
    this->expect_equal(all);
}

TYPED_TEST_P(LinkConformance, TellsWhichGroupsAreDoneAndEmpty) {
    std::string text = text_of(100'000, 4), first(text.size(), '?'), second(text.size(), '?');
    const auto bytes = static_cast<std::int64_t>(text.size());
    Requests out, in;
    in.watch_lengths();
    this->a().send(out, nullptr, bytes, this->rank_of_b(), 3);
    this->a().send(out, text.data(), bytes, this->rank_of_b(), 3);
    in.begin_group(0);
    this->b().receive(in, first.data(), bytes, this->rank_of_a(), 3);
    in.begin_group(1);
    this->b().receive(in, second.data(), bytes, this->rank_of_a(), 3);
    std::vector<std::size_t> groups, empty;
    ASSERT_TRUE(holds_soon([&] {
        out.newly_done();
        for (const auto group : in.newly_done()) groups.push_back(group);
        for (const auto group : in.newly_empty()) empty.push_back(group);
        return in.all_done() && out.all_done();
    }));
    std::sort(groups.begin(), groups.end());
    EXPECT_EQ(groups, (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(empty, std::vector<std::size_t>{0});
    EXPECT_TRUE(second == text);
}

TYPED_TEST_P(LinkConformance, ACancelledReceiveTakesNoMessage) {
    std::string text = text_of(100'000, 5), given_up(text.size(), '?'), received(text.size(), '?');
    const auto bytes = static_cast<std::int64_t>(text.size());
    {
        Requests dropped;
        this->b().receive(dropped, given_up.data(), bytes, this->rank_of_a(), 4);
        EXPECT_FALSE(dropped.holds());
    }
    Requests out, in;
    this->a().send(out, text.data(), bytes, this->rank_of_b(), 4);
    this->b().receive(in, received.data(), bytes, this->rank_of_a(), 4);
    ASSERT_TRUE(this->done(out, in));
    EXPECT_TRUE(received == text);
    EXPECT_EQ(given_up, std::string(text.size(), '?'));
}

// Short and long texts of one tag, with those of another between them, which are received first.
TYPED_TEST_P(LinkConformance, KeepsTheOrderOfTexts) {
    constexpr int count = 60;
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) texts.push_back(text_of(i % 7 == 3 ? 40'000 + i : i * i, i));
    Requests out;
    for (int i = 0; i < count; ++i)
        this->a().send_text(out, texts[static_cast<std::size_t>(i)], this->rank_of_b(),
                            i % 3 == 0 ? 11 : 12);
    for (const bool third : {true, false})
        for (int i = 0; i < count; ++i) {
            if ((i % 3 == 0) != third) continue;
            const int from = i % 2 == 0 ? this->rank_of_a() : any_source;
            const TextMessage message =
                finish(receive_text(this->b(), from, third ? 11 : 12), [&] { out.holds(); });
            EXPECT_EQ(message.from, this->rank_of_a());
            EXPECT_TRUE(message.text == texts[static_cast<std::size_t>(i)]) << i;
        }
    EXPECT_TRUE(holds_soon([&] { return out.holds(); }));
}

TYPED_TEST_P(LinkConformance, ProbesForAnySource) {
    EXPECT_FALSE(this->b().probe(any_source, 6));
    Requests out;
    const std::string text = text_of(4096, 6);
    this->a().send_text(out, text, this->rank_of_b(), 6);
    std::optional<ProbeResult> found;
    ASSERT_TRUE(holds_soon([&] {
        out.holds();
        found = this->b().probe(any_source, 6);
        return found.has_value();
    }));
    EXPECT_EQ(found->source, this->rank_of_a());
    EXPECT_EQ(found->bytes, 4096);
    const TextMessage message = finish(receive_text(this->b(), *found, 6), [&] { out.holds(); });
    EXPECT_TRUE(message.text == text);
    EXPECT_FALSE(this->b().probe(any_source, 6));
}

TYPED_TEST_P(LinkConformance, ALostEndIsNamedInEveryWaitForIt) {
    constexpr bool can_lose_b = requires(TypeParam & maker) {
        maker.lose_b();
    };
    if constexpr (!can_lose_b) GTEST_SKIP() << "this maker's ends cannot be lost";
    // Messages that came before are still received.
    Requests last;
    const std::string text = text_of(1000, 7);
    this->b().send(last, text.data(), 1000, this->rank_of_a(), 2);
    ASSERT_TRUE(holds_soon([&] {
        last.holds();
        return this->a().probe(this->rank_of_b(), 2).has_value();
    }));
    std::string data = text_of(5'000'000, 8), at_a(1000, '?');
    Requests receiving, sending;
    this->a().receive(receiving, data.data(), 100, this->rank_of_b(), 1);
    this->a().send(sending, data.data(), 5'000'000, this->rank_of_b(), 1);
    if constexpr (can_lose_b) this->maker_.lose_b();
    const auto expect_lost = [&](const std::function<bool()>& wait) {
        try {
            holds_soon(wait);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const PeerLostError& error) {
            EXPECT_NE(std::string(error.what()).find("is lost"), std::string::npos) << error.what();
        }
    };
    expect_lost([&] { return receiving.holds(); });
    expect_lost([&] { return sending.holds(); });
    expect_lost([&] { return this->a().probe(this->rank_of_b(), 3).has_value(); });
    expect_lost([&] {
        this->a().need_any({this->rank_of_b()});
        return false;
    });
    Requests in;
    this->a().receive(in, at_a.data(), 1000, this->rank_of_b(), 2);
    EXPECT_TRUE(in.holds());
    EXPECT_TRUE(at_a == text);
}

REGISTER_TYPED_TEST_SUITE_P(LinkConformance, KeepsTheOrderOfATag, CarriesTexts,
                            KeepsTheOrderOfTexts, LosesNothingThatNobodyReceivesYet,
                            NoTagWaitsForAnother, CarriesBothDirectionsAtOnce,
                            InterleavesAHundredTags, TellsWhichGroupsAreDoneAndEmpty,
                            ACancelledReceiveTakesNoMessage, ProbesForAnySource,
                            ALostEndIsNamedInEveryWaitForIt);

}  // namespace hocket::comm::testing
