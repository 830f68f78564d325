// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>

#include "base/platform.hpp"
#include "flow/steal_throttle.hpp"

namespace hocket::flow {
namespace {

void take_brief_steps(StealThrottle& steal_throttle) {
    ASSERT_TRUE(steal_throttle.allows([] { return std::uint64_t{0}; }));
    // So many that a thread which is kept from its core meanwhile has still been brief.
    for (int i = 0; i < 10'000'000; ++i) steal_throttle.ran();
}

void take_a_long_step(StealThrottle& steal_throttle) {
    ASSERT_TRUE(steal_throttle.allows([] { return std::uint64_t{0}; }));
    for (const double end = platform::seconds() + 1e-4; platform::seconds() < end;)
        platform::pause();
    steal_throttle.ran();
}

TEST(StealThrottle, LeavesBriefStepsToThoseWhoGetOn) {
    StealThrottle steal_throttle;
    take_brief_steps(steal_throttle);
    std::uint64_t progress = 0;
    EXPECT_FALSE(steal_throttle.allows([&] { return ++progress; }));
    // Not for ever: others' steps may have become longer.
    const double end = platform::seconds() + 60;
    while (!steal_throttle.allows([&] { return ++progress; })) ASSERT_LT(platform::seconds(), end);
}

TEST(StealThrottle, HelpsWhereNobodyGetsOn) {
    StealThrottle steal_throttle;
    take_brief_steps(steal_throttle);
    int looks = 0;
    const auto stands_still = [&] {
        ++looks;
        return std::uint64_t{7};
    };
    const double end = platform::seconds() + 60;
    while (!steal_throttle.allows(stands_still)) ASSERT_LT(platform::seconds(), end);
    EXPECT_LE(looks, 2);
}

TEST(StealThrottle, TakesLongStepsAtOnce) {
    StealThrottle steal_throttle;
    take_a_long_step(steal_throttle);
    std::uint64_t progress = 0;
    EXPECT_TRUE(steal_throttle.allows([&] { return ++progress; }));
    EXPECT_EQ(progress, 0U);
}

}  // namespace
}  // namespace hocket::flow
