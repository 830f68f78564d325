// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>

#include "base/port.hpp"
#include "flow/restraint.hpp"

namespace hocket::flow {
namespace {

void take_brief_steps(Restraint& restraint) {
    ASSERT_TRUE(restraint.allows([] { return std::uint64_t{0}; }));
    // So many that a thread which is kept from its core meanwhile has still been brief.
    for (int i = 0; i < 10'000'000; ++i) restraint.ran();
}

void take_a_long_step(Restraint& restraint) {
    ASSERT_TRUE(restraint.allows([] { return std::uint64_t{0}; }));
    for (const double end = port::seconds() + 1e-4; port::seconds() < end;) port::pause();
    restraint.ran();
}

TEST(Restraint, LeavesBriefStepsToThoseWhoGetOn) {
    Restraint restraint;
    take_brief_steps(restraint);
    std::uint64_t progress = 0;
    EXPECT_FALSE(restraint.allows([&] { return ++progress; }));
    // Not for ever: others' steps may have become longer.
    const double end = port::seconds() + 60;
    while (!restraint.allows([&] { return ++progress; })) ASSERT_LT(port::seconds(), end);
}

TEST(Restraint, HelpsWhereNobodyGetsOn) {
    Restraint restraint;
    take_brief_steps(restraint);
    int looks = 0;
    const auto stands_still = [&] {
        ++looks;
        return std::uint64_t{7};
    };
    const double end = port::seconds() + 60;
    while (!restraint.allows(stands_still)) ASSERT_LT(port::seconds(), end);
    EXPECT_LE(looks, 2);
}

TEST(Restraint, TakesLongStepsAtOnce) {
    Restraint restraint;
    take_a_long_step(restraint);
    std::uint64_t progress = 0;
    EXPECT_TRUE(restraint.allows([&] { return ++progress; }));
    EXPECT_EQ(progress, 0U);
}

}  // namespace
}  // namespace hocket::flow
