// SPDX-License-Identifier: BSD-3-Clause
// The model checker itself, by programs whose outcomes are known.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "unit/shm/model.hpp"

namespace hocket::shm::model::model_test {
namespace {

using Number = Atomic<std::uint64_t>;
using Pairs = std::set<std::pair<std::uint64_t, std::uint64_t>>;
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

// The values that two loads of one process see of two stores of another, by the orders of the
// flag's.
Pairs message_passing(std::memory_order stored, std::memory_order loaded) {
    Model model;
    Number data;
    Number flag;
    Pairs seen;
    std::uint64_t f = 0;
    std::uint64_t d = 0;
    const auto writer = [&] {
        data.store(1, relaxed);
        flag.store(1, stored);
    };
    const auto reader = [&] {
        f = flag.load(loaded);
        d = data.load(relaxed);
    };
    EXPECT_EQ(model.check({writer, reader}, [&] { seen.emplace(f, d); }).violation, "");
    return seen;
}

TEST(Model, OrdersByReleaseAndAcquireOnly) {
    const Pairs ordered{{0, 0}, {0, 1}, {1, 1}};
    const Pairs all{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    EXPECT_EQ(message_passing(release, acquire), ordered);
    EXPECT_EQ(message_passing(relaxed, acquire), all);
    EXPECT_EQ(message_passing(release, relaxed), all);
}

TEST(Model, LetsALoadOvertakeAStore) {
    Model model;
    Number x;
    Number y;
    Pairs seen;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    const auto first = [&] {
        x.store(1, release);
        a = y.load(acquire);
    };
    const auto second = [&] {
        y.store(1, release);
        b = x.load(acquire);
    };
    EXPECT_EQ(model.check({first, second}, [&] { seen.emplace(a, b); }).violation, "");
    EXPECT_EQ(seen, (Pairs{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(Model, KeepsTheOrderOfALocation) {
    Model model;
    Number x;
    Pairs seen;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    const auto writer = [&] {
        x.store(1, relaxed);
        x.store(2, relaxed);
    };
    const auto reader = [&] {
        a = x.load(relaxed);
        b = x.load(relaxed);
    };
    EXPECT_EQ(model.check({writer, reader}, [&] { seen.emplace(a, b); }).violation, "");
    EXPECT_EQ(seen, (Pairs{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

TEST(Model, PassesOnWhatWasPassedOn) {
    Model model;
    Number data;
    Number first;
    Number second;
    const Result result = model.check({[&] {
                                           data.store(1, relaxed);
                                           first.store(1, release);
                                       },
                                       [&] {
                                           model.wait([&] { return first.load(acquire) == 1; });
                                           second.store(1, release);
                                       },
                                       [&] {
                                           model.wait([&] { return second.load(acquire) == 1; });
                                           model.require(data.load(relaxed) == 1, "stale");
                                       }});
    EXPECT_EQ(result.violation, "");
    EXPECT_EQ(result.races, 0u);
    EXPECT_GT(result.ends, 0u);
}

TEST(Model, HasNoOneOrderOfTwoWriters) {
    Model model;
    Number x;
    Number y;
    bool apart = false;
    std::uint64_t xs[2] = {};
    std::uint64_t ys[2] = {};
    const Result result =
        model.check({[&] { x.store(1, release); }, [&] { y.store(1, release); },
                     [&] {
                         xs[0] = x.load(acquire);
                         ys[0] = y.load(acquire);
                     },
                     [&] {
                         ys[1] = y.load(acquire);
                         xs[1] = x.load(acquire);
                     }},
                    [&] { apart |= xs[0] == 1 && ys[0] == 0 && ys[1] == 1 && xs[1] == 0; });
    EXPECT_EQ(result.violation, "");
    EXPECT_TRUE(apart);
}

TEST(Model, SeesEndlessWaiting) {
    Model model;
    Number x;
    const Result result = model.check(
        {[&] { x.store(1, relaxed); }, [&] { model.wait([&] { return x.load(relaxed) == 2; }); }});
    EXPECT_NE(result.violation.find("wait"), std::string::npos);
    // A poll may come too late for a store that is overwritten.
    EXPECT_NE(model
                  .check({[&] {
                              x.store(1, relaxed);
                              x.store(2, relaxed);
                          },
                          [&] { model.wait([&] { return x.load(relaxed) == 1; }); }})
                  .violation,
              "");
}

}  // namespace
}  // namespace hocket::shm::model::model_test
