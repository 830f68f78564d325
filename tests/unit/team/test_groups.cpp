// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <memory>

#include "team/group.hpp"

namespace hocket::team {
namespace {

std::shared_ptr<const Group> group_of(std::uint64_t bits) {
    const Mask mask(bits);
    auto group = std::make_shared<Group>(mask, static_cast<std::size_t>(mask.count()));
    std::size_t member = 0;
    mask.each([&](int process) { group->members[member++] = {nullptr, process}; });
    return group;
}

TEST(Groups, KnowsWhatItKeeps) {
    Groups groups;
    for (std::uint64_t bits = 1; bits <= 500; ++bits) {
        EXPECT_EQ(groups.find(Mask(bits), Mask(bits).hash()), nullptr);
        groups.keep(group_of(bits), Mask(bits).hash());
    }
    for (std::uint64_t bits = 1; bits <= 500; ++bits) {
        const auto found = groups.find(Mask(bits), Mask(bits).hash());
        ASSERT_NE(found, nullptr) << bits;
        EXPECT_EQ(found->mask, Mask(bits));
    }
}

// Groups in use stay valid, even if the cache drops them.
TEST(Groups, ForgetsSomeOfVeryMany) {
    Groups groups;
    const auto first = group_of(1);
    groups.keep(first, Mask(1).hash());
    std::weak_ptr<const Group> unused;
    for (std::uint64_t bits = 2; bits <= 60'000; ++bits) {
        auto made = group_of(bits);
        if (bits == 2) unused = made;
        groups.keep(made, Mask(bits).hash());
        EXPECT_EQ(groups.find(Mask(bits), Mask(bits).hash()), made) << bits;
    }
    EXPECT_TRUE(unused.expired());
    std::size_t known = 0;
    for (std::uint64_t bits = 1; bits <= 60'000; ++bits)
        if (groups.find(Mask(bits), Mask(bits).hash())) ++known;
    EXPECT_GT(known, 3000u);
    EXPECT_LE(known, 4096u);
    EXPECT_EQ(first->process(0), 0);
}

// The same hash for all: they lie in the same few slots.
TEST(Groups, TellsMasksOfOneHashApart) {
    Groups groups;
    for (std::uint64_t bits = 1; bits <= 3; ++bits) groups.keep(group_of(bits), 7);
    for (std::uint64_t bits = 1; bits <= 3; ++bits)
        EXPECT_EQ(groups.find(Mask(bits), 7)->mask, Mask(bits));
    EXPECT_EQ(groups.find(Mask(4), 7), nullptr);
}

TEST(Group, FindsPlacesAndWhatTwoHaveInCommon) {
    const auto low = group_of(0b0000'0111'0110), high = group_of(0b1111'0100'0000);
    EXPECT_EQ(low->member_of(1), 0u);
    EXPECT_EQ(low->member_of(4), 2u);
    EXPECT_EQ(low->member_of(6), 4u);
    EXPECT_FALSE(low->meets(*high));  // process 6 alone
    EXPECT_TRUE(low->meets(*group_of(0b101'0000)));
    // More than lie in the group itself.
    const auto many = group_of(~std::uint64_t{0});
    EXPECT_EQ(many->member_of(63), 63u);
    EXPECT_EQ(many->process(40), 40);
}

}  // namespace
}  // namespace hocket::team
