// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "shm/alive.hpp"

namespace hocket::shm {
namespace {

// A child that sleeps, and who it is.
struct Child {
    Child() {
        int ends[2];
        if (pipe(ends) != 0) return;
        id = fork();
        if (id == 0) {
            identity = myself();
            [[maybe_unused]] const auto written = write(ends[1], &identity, sizeof identity);
            for (;;) pause();
        }
        [[maybe_unused]] const auto got = read(ends[0], &identity, sizeof identity);
        close(ends[0]);
        close(ends[1]);
    }
    ~Child() { end(); }
    void end() {
        if (id <= 0) return;
        kill(id, SIGKILL);
        waitpid(id, nullptr, 0);
        id = -1;
    }
    pid_t id = -1;
    Identity identity;
};

// Within milliseconds; the limit is a machine's that others use too.
bool sees_the_end(const Watch& watch) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!watch.ended()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

TEST(Watch, SeesAProcessEnd) {
    Child child;
    EXPECT_EQ(child.identity.process, child.id);
    const auto watch = Watch::on(child.identity);
    ASSERT_TRUE(watch);
    EXPECT_FALSE(watch->ended());
    child.end();
    EXPECT_TRUE(sees_the_end(*watch));
}

TEST(Watch, SeesOneThatNobodyHasBuried) {
    Child child;
    const auto watch = Watch::on(child.identity);
    ASSERT_TRUE(watch);
    kill(child.id, SIGKILL);  // its parent, this process, does not wait for it yet
    EXPECT_TRUE(sees_the_end(*watch));
}

TEST(Watch, DoesNotTakeAnotherForIt) {
    Child child;
    Identity other = child.identity;
    other.start -= 1;  // the id was someone else's before
    EXPECT_FALSE(Watch::on(other));
    other = child.identity;
    other.space += 1;  // the id is of another container
    EXPECT_FALSE(Watch::on(other));
    child.end();
    EXPECT_FALSE(Watch::on(child.identity));
}

TEST(Watch, SeesItself) {
    const auto watch = Watch::on(myself());
    ASSERT_TRUE(watch);
    EXPECT_FALSE(watch->ended());
}

}  // namespace
}  // namespace hocket::shm
