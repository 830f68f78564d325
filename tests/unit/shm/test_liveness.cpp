// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "shm/liveness.hpp"

namespace hocket::shm::liveness_test {
namespace {

// A child that sleeps, and who it is.
struct Child {
    Child() {
        int ends[2];
        if (pipe(ends) != 0) return;
        id = fork();
        if (id == 0) {
            identity = own_identity();
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
    ProcessIdentity identity;
};

// Within milliseconds; the limit is a machine's that others use too.
bool sees_the_end(const ProcessMonitor& watch) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!watch.ended()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

TEST(ProcessMonitor, SeesAProcessEnd) {
    Child child;
    EXPECT_EQ(child.identity.process, child.id);
    const auto watch = ProcessMonitor::on(child.identity);
    ASSERT_TRUE(watch);
    EXPECT_FALSE(watch->ended());
    child.end();
    EXPECT_TRUE(sees_the_end(*watch));
}

TEST(ProcessMonitor, SeesOneThatNobodyHasBuried) {
    Child child;
    const auto watch = ProcessMonitor::on(child.identity);
    ASSERT_TRUE(watch);
    kill(child.id, SIGKILL);  // its parent, this process, does not wait for it yet
    EXPECT_TRUE(sees_the_end(*watch));
}

TEST(ProcessMonitor, DoesNotTakeAnotherForIt) {
    Child child;
    ProcessIdentity other = child.identity;
    other.start -= 1;  // the id was someone else's before
    EXPECT_FALSE(ProcessMonitor::on(other));
    other = child.identity;
    other.pid_namespace += 1;  // the id is of another container
    EXPECT_FALSE(ProcessMonitor::on(other));
    child.end();
    EXPECT_FALSE(ProcessMonitor::on(child.identity));
}

TEST(ProcessMonitor, SeesItself) {
    const auto watch = ProcessMonitor::on(own_identity());
    ASSERT_TRUE(watch);
    EXPECT_FALSE(watch->ended());
}

}  // namespace
}  // namespace hocket::shm::liveness_test
