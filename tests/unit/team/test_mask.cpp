// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "hocket/mask.hpp"

namespace hocket {
namespace {

TEST(Mask, HoldsProcessesOfAnyNumber) {
    Mask mask;
    EXPECT_EQ(mask.count(), 0);
    EXPECT_EQ(mask.text(), "{}");
    for (const int process : {200, 3, 63, 64, 3}) mask.add(process);
    EXPECT_EQ(mask.processes(), (std::vector<int>{3, 63, 64, 200}));
    EXPECT_EQ(mask.count(), 4);
    EXPECT_EQ(mask.text(), "{3, 63, 64, 200}");
    for (int process = -1; process < 300; ++process) {
        const bool in = process == 3 || process == 63 || process == 64 || process == 200;
        EXPECT_EQ(mask.contains(process), in) << process;
    }
    EXPECT_EQ(Mask(mask.words()), mask);
    EXPECT_EQ(mask.words().size(), 4u);
}

TEST(Mask, EqualSetsAreEqualMasks) {
    const std::array<std::uint64_t, 3> padded{5, 0, 0};
    EXPECT_EQ(Mask(padded), Mask(5));
    EXPECT_EQ(Mask(padded).hash(), Mask(5).hash());
    EXPECT_EQ(Mask(padded).words(), std::vector<std::uint64_t>{5});
    EXPECT_EQ(Mask(std::span<const std::uint64_t>()), Mask());
}

TEST(Mask, DifferentSetsHaveDifferentHashes) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t bits = 0; bits < 5000; ++bits) seen.insert(Mask(bits).hash());
    for (std::uint64_t bits = 1; bits < 5000; ++bits) {
        const std::array<std::uint64_t, 2> words{0, bits};
        seen.insert(Mask(words).hash());
    }
    EXPECT_EQ(seen.size(), 9999u);
}

}  // namespace
}  // namespace hocket
