// SPDX-License-Identifier: BSD-3-Clause
// Versions and settings that processes of one job do not share.
#include <gtest/gtest.h>

#include <string>

#include "base/pack.hpp"
#include "comm/surroundings.hpp"
#include "hocket/version.h"

namespace hocket::comm {
namespace {

const Surroundings here{
    "n1", {{"hocket's version", "1.2.3"}, {"MPI", "MPICH 5.0.2"}, {"HOCKET_NODES", "unset"}}};

std::string between(const Surroundings& other) {
    return surroundings_differ(packed(here), "process 0 of 4", packed(other), "process 3 of 4");
}

TEST(Surroundings, HostsMayDiffer) {
    Surroundings there = here;
    there.host = "n2";
    EXPECT_EQ(between(there), "");
}

TEST(Surroundings, AVersionIsNamedWithItsProcessesAndHosts) {
    Surroundings there = here;
    there.host = "n2";
    there.facts[0].second = "1.3.0";
    EXPECT_EQ(between(there),
              "the processes of one job differ: hocket's version is 1.2.3 on process 0 of 4 (host "
              "n1), but 1.3.0 on process 3 of 4 (host n2); install the same version for all of "
              "them");
}

TEST(Surroundings, BothVersionsAreNamedAndNoSetting) {
    Surroundings there = here;
    for (auto& [name, value] : there.facts) value = "another";
    const std::string said = between(there);
    EXPECT_NE(said.find("hocket's version is 1.2.3"), std::string::npos) << said;
    EXPECT_NE(said.find("MPI is MPICH 5.0.2"), std::string::npos) << said;
    EXPECT_EQ(said.find("HOCKET_NODES"), std::string::npos) << said;
}

TEST(Surroundings, ASettingIsNamed) {
    Surroundings there = here;
    there.facts[2].second = "0,1";
    const std::string said = between(there);
    EXPECT_NE(said.find("HOCKET_NODES is unset on process 0 of 4 (host n1), but 0,1 on"),
              std::string::npos)
        << said;
}

TEST(Surroundings, AVersionMayKnowOtherSettings) {
    Surroundings there = here;
    there.facts.pop_back();
    EXPECT_EQ(between(there), "");
    there.facts.emplace_back("HOCKET_LATER", "1");
    EXPECT_EQ(between(there), "");
}

TEST(Surroundings, ThoseOfThisProcessBeginWithItsVersion) {
    ASSERT_EQ(::setenv("HOCKET_CHECK", "1", 1), 0);
    const Surroundings own = own_surroundings();
    ::unsetenv("HOCKET_CHECK");
    ASSERT_GE(own.facts.size(), 3U);
    EXPECT_EQ(own.facts[0].second, HOCKET_VERSION);
    bool checks = false;
    for (const auto& [name, value] : own.facts)
        checks = checks || (name == "HOCKET_CHECK" && value == "1");
    EXPECT_TRUE(checks);
}

// Other versions read these bytes.
TEST(Surroundings, TheBytesStay) {
    const std::string expected = Packer()
                                     .text("n1")
                                     .text("hocket's version")
                                     .text("1.2.3")
                                     .text("MPI")
                                     .text("MPICH 5.0.2")
                                     .text("HOCKET_NODES")
                                     .text("unset")
                                     .take();
    EXPECT_EQ(packed(here), expected);
}

}  // namespace
}  // namespace hocket::comm
