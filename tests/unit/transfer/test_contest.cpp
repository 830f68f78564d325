// SPDX-License-Identifier: BSD-3-Clause
// Contenders take turns in the order that they found, whichever of them looks first, and also where
// one of them fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "transfer/contest.hpp"

namespace hocket::transfer {
namespace {

using comm::Protocol;

// Words from a member to a member that have come and were not heard.
using Words = std::map<std::pair<int, int>, int>;

/// A team of members within one process.
class Together final : public comm::Aggregates {
  public:
    Together(Words& words, int me) : words_(words), me_(me) {}
    Protocol<std::string> fold(int, std::string mine, comm::Merge) override { co_return mine; }
    Protocol<std::string> spread(int, std::string text) override { co_return text; }
    Protocol<std::vector<int>> vote(int, std::int64_t) override { co_return std::vector<int>(); }
    Protocol<> tell(int, int member) override {
        ++words_[{me_, member}];
        co_return;
    }
    Protocol<> hear(int, int member) override {
        comm::When come([&] { return words_[{member, me_}] > 0; });
        co_await comm::until(come);
        --words_[{member, me_}];
    }

  private:
    Words& words_;
    int me_;
};

class ContestTest : public testing::Test {
  protected:
    std::unique_ptr<Contest> contender(int member) {
        comm::Group group;
        group.members.resize(8);
        group.index = member;
        group.aggregates = std::make_shared<Together>(words_, member);
        return std::make_unique<Contest>(group, 1, order_);
    }
    Words words_;
    std::vector<int> order_{5, 2, 7, 0, 3};
};

TEST_F(ContestTest, OneAfterTheOther) {
    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round) {
        std::vector<int> members = order_, served;
        std::map<int, std::unique_ptr<Contest>> contests;
        for (const int member : members) contests[member] = contender(member);
        while (served.size() < order_.size()) {
            std::shuffle(members.begin(), members.end(), random);
            int at_once = 0;
            for (const int member : members) {
                if (contests[member]->over()) continue;
                if (contests[member]->my_turn()) {
                    ++at_once;
                    ASSERT_TRUE(contests[member]->my_turn());
                    served.push_back(member);
                }
            }
            ASSERT_EQ(at_once, 1);
            contests[served.back()]->pass();
            contests[served.back()]->pass();  // no second word
            ASSERT_TRUE(contests[served.back()]->over());
        }
        EXPECT_EQ(served, order_);
        for (const auto& [between, count] : words_) EXPECT_EQ(count, 0);
    }
}

TEST_F(ContestTest, OneThatFailsLetsTheNextGoOn) {
    auto first = contender(5), second = contender(2), third = contender(7);
    EXPECT_FALSE(second->my_turn());
    first.reset();
    EXPECT_FALSE(third->my_turn());
    EXPECT_TRUE(second->my_turn());
    second->pass();
    EXPECT_TRUE(third->my_turn());
    third->pass();
    EXPECT_FALSE(contender(3)->my_turn());  // its word comes from 0
}

}  // namespace
}  // namespace hocket::transfer
