// SPDX-License-Identifier: BSD-3-Clause
// Memory of another process, copied by the kernel: a child's, forked without exec, as both ends
// then know all addresses.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "hocket/error.hpp"
#include "shm/cma.hpp"

namespace hocket::shm::cma_test {
namespace {

// A child that runs a function, reports it, and lives until its parent ends it.
class Child {
  public:
    template <class Function>
    explicit Child(Function&& first) {
        if (pipe(said_) != 0 || pipe(end_) != 0) return;
        id_ = fork();
        char byte = first_byte;
        if (id_ == 0) {
            first();
            [[maybe_unused]] const auto written = write(said_[1], &byte, 1);
            close(end_[1]);
            [[maybe_unused]] const auto told = read(end_[0], &byte, 1);
            _exit(0);
        }
        close(said_[1]);
        [[maybe_unused]] const auto got = read(said_[0], &byte, 1);
    }
    ~Child() {
        end();
        close(said_[0]);
        close(end_[0]);
        close(end_[1]);
    }
    void end() {
        if (id_ <= 0) return;
        kill(id_, SIGKILL);
        waitpid(id_, nullptr, 0);
        id_ = -1;
    }
    pid_t id() const { return id_; }

  private:
    static constexpr char first_byte = 1;
    int said_[2] = {-1, -1}, end_[2] = {-1, -1};
    pid_t id_ = -1;
};

SharedAddress address_at(pid_t process, const void* address) {
    SharedAddress there = cma_address_of(address);
    there.process = process;
    return there;
}

std::byte* bytes(std::vector<int>& values, std::size_t at = 0) {
    return reinterpret_cast<std::byte*>(values.data() + at);
}

void add(std::vector<iovec>& runs, std::byte* at, std::size_t length) {
    runs.push_back({at, length});
}

TEST(Cma, PlacesAreNoPlacesToMap) {
    const int value = 1;
    const SharedAddress there = cma_address_of(&value);
    EXPECT_TRUE(there && is_cma_address(there));
    EXPECT_EQ(map(there), nullptr);
    EXPECT_FALSE(is_cma_address({}));
    EXPECT_TRUE(cma_permitted(there));
    EXPECT_FALSE(cma_permitted(cma_address_of(nullptr)));
}

TEST(Cma, MoreRunsThanOneCallTakesGoBothWays) {
    std::vector<int> values(10000);
    const Child child([&] { std::iota(values.begin(), values.end(), 5); });
    if (!cma_permitted(address_at(child.id(), values.data())))
        GTEST_SKIP() << "this system does not let a process read its child's memory";
    // Every other one of the child's, one after another here.
    std::vector<int> read(5000, -1);
    std::vector<iovec> here, there;
    for (std::size_t i = 0; i < read.size(); ++i) {
        add(here, bytes(read, i), sizeof(int));
        add(there, bytes(values, 2 * i), sizeof(int));
        if (here.size() < cma_runs) continue;
        ASSERT_TRUE(cma_copy(child.id(), false, here, there));
    }
    EXPECT_TRUE(cma_copy(child.id(), false, here, there));
    for (std::size_t i = 0; i < read.size(); ++i) ASSERT_EQ(read[i], static_cast<int>(2 * i) + 5);

    std::vector<int> back(10000, 7);
    add(here, bytes(back), 3000 * sizeof(int));
    add(there, bytes(values), 3000 * sizeof(int));
    EXPECT_TRUE(cma_copy(child.id(), true, here, there));
    EXPECT_TRUE(cma_copy(child.id(), true, here, there));  // nothing more
    add(here, bytes(back), back.size() * sizeof(int));
    add(there, bytes(values), back.size() * sizeof(int));
    EXPECT_TRUE(cma_copy(child.id(), false, here, there));
    EXPECT_EQ(back[2999], 7);
    EXPECT_EQ(back[3000], 3005);
}

TEST(Cma, AProcessThatIsGoneIsFoundOut) {
    std::vector<int> values(10), read(10);
    Child child([] {});
    const pid_t id = child.id();
    child.end();
    EXPECT_FALSE(cma_permitted(address_at(id, values.data())));
    std::vector<iovec> here{{read.data(), 4}}, there{{values.data(), 4}};
    EXPECT_FALSE(cma_copy(id, false, here, there));
}

TEST(Cma, MemoryThatIsGoneIsAnError) {
    std::vector<int> read(10);
    std::vector<iovec> here{{read.data(), 4}}, there{{nullptr, 4}};
    EXPECT_THROW(cma_copy(getpid(), false, here, there), Error);
}

TEST(Cma, OneThatMayNotBeReadIsNotReached) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    std::vector<int> values(10);
    const Child child([&] {
        // Of another user and no longer to be looked into, as after exec of what may not be read.
        [[maybe_unused]] const auto kept = prctl(PR_SET_DUMPABLE, 0);
    });
    const pid_t asks = fork();
    if (asks == 0) {
        const bool user = setgid(65534) == 0 && setuid(65534) == 0;
        _exit(user && !cma_permitted(address_at(child.id(), values.data())) ? 0 : 1);
    }
    int status = -1;
    waitpid(asks, &status, 0);
    EXPECT_EQ(status, 0);
}

constexpr std::int64_t ring = 512 << 10;

bool pays(std::int64_t bytes, std::int64_t run, std::int64_t count = 1) {
    return cma_pays(bytes, bytes / run, count * ring);
}

bool packed_pays(std::int64_t bytes, std::int64_t run, std::int64_t packed_run,
                 std::int64_t count = 1) {
    const auto packed_runs = [=] { return bytes / packed_run; };
    return packed_cma_pays(bytes, bytes / run, packed_runs, count, count * ring);
}

TEST(Cma, WhatPaysDependsOnTheLengthOfRuns) {
    constexpr std::int64_t small = 1 << 20, large = 8 << 20, few = 3, many = 15;
    EXPECT_TRUE(pays(large, 1 << 16));
    EXPECT_FALSE(pays(small, 1 << 16) || packed_pays(small, 1 << 16, 1 << 16));
    EXPECT_FALSE(pays(large, 1 << 13) || packed_pays(large, 1 << 13, 1 << 16));
    // Rings that exceed the cache cost more.
    EXPECT_TRUE(pays(small, 1 << 13, many));
    EXPECT_FALSE(pays(small, 1 << 10, many) || packed_pays(small, 1 << 10, 1 << 10, many));
    // Elements of several messages in one line are unpacked together.
    EXPECT_FALSE(pays(large, 8) || pays(large, 8, few) || pays(large, 8, many));
    EXPECT_FALSE(packed_pays(large, 8, large));
    EXPECT_TRUE(packed_pays(large, 8, large, few));
    EXPECT_TRUE(packed_pays(small, 8, small, many));
    EXPECT_FALSE(packed_pays(large, 8, 16, many));
}

TEST(Cma, AMessageWithoutElementsIsNotCopied) {
    EXPECT_FALSE(cma_pays(0, 0, 0) || packed_cma_pays(
                                          0, 0, [] { return 0; }, 2, 0));
}

}  // namespace
}  // namespace hocket::shm::cma_test
