// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "shm/peer_registry.hpp"

namespace hocket::shm::peer_registry_test {
namespace {

TEST(PeerRegistry, NamesProcessesOfOtherHosts) {
    // Hosts number their processes apart, so that two may have one id.
    const std::int64_t one = peer_elsewhere(4, 231), other = peer_elsewhere(5, 231);
    EXPECT_LT(one, 0);
    EXPECT_NE(one, other);
    EXPECT_EQ(id_of_process(one), 231);
    EXPECT_EQ(id_of_process(231), 231);
    describe_peer(other, "rank 5 (task 'rows', process 1)");
    EXPECT_EQ(names_of_peers({one}), "rank 4");
    EXPECT_EQ(names_of_peers({one, other}), "rank 4 or rank 5 (task 'rows', process 1)");
    EXPECT_EQ(name_of_rank(5), "rank 5 (task 'rows', process 1)");
    EXPECT_EQ(name_of_rank(4), "rank 4");
    // An id of this host that nobody has met.
    EXPECT_EQ(names_of_peers({one, 1}), "");
    EXPECT_EQ(lost_peer(), "");
}

}  // namespace
}  // namespace hocket::shm::peer_registry_test
