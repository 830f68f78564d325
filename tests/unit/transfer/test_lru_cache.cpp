// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "transfer/lru_cache.hpp"

namespace hocket::transfer {
namespace {

TEST(LruCache, MakesWhatIsEqualOnce) {
    LruCache<int> recent;
    int made = 0;
    const auto square = [&](int of) {
        return *recent.find_or_make(std::to_string(of), [&](const std::string& key) {
            ++made;
            return std::stoi(key) * std::stoi(key);
        });
    };
    for (int round = 0; round < 3; ++round)
        for (const int of : {2, 3, 4}) EXPECT_EQ(square(of), of * of);
    EXPECT_EQ(made, 3);
    const PlanCacheCounts counts = recent.counts();
    EXPECT_EQ(counts.made, 3);
    EXPECT_EQ(counts.found, 6);
    EXPECT_EQ(counts.kept, 3);
}

TEST(LruCache, KeepsSoManyAndThoseThatWereUsedLast) {
    LruCache<int> recent;
    int made = 0;
    const auto get = [&](int of) {
        return recent.find_or_make(std::to_string(of), [&](const std::string& key) {
            ++made;
            return std::stoi(key);
        });
    };
    const int bound = static_cast<int>(plans_kept());
    const auto held = get(-1);
    for (int of = 0; of < bound; ++of) {
        get(of);
        get(0);
    }
    EXPECT_EQ(recent.counts().kept, bound);
    EXPECT_EQ(*held, -1);  // who has it keeps it
    const int before = made;
    get(0);
    get(bound - 1);
    EXPECT_EQ(made, before);
    get(-1);
    EXPECT_EQ(made, before + 1);
}

TEST(LruCache, KeepsNothingOfWhatCouldNotBeMade) {
    LruCache<int> recent;
    const std::string key = "a";
    EXPECT_THROW(recent.find_or_make(key, [](const std::string&) -> int { throw Error("no"); }),
                 Error);
    EXPECT_EQ(*recent.find_or_make(key, [](const std::string&) { return 5; }), 5);
}

}  // namespace
}  // namespace hocket::transfer
