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
    CmaTransfer reading(child.id(), false);
    for (std::size_t i = 0; i < read.size(); ++i)
        reading.add(bytes(read, i), bytes(values, 2 * i), sizeof(int));
    EXPECT_TRUE(reading.finish());
    for (std::size_t i = 0; i < read.size(); ++i) ASSERT_EQ(read[i], static_cast<int>(2 * i) + 5);

    std::vector<int> back(10000, 7);
    CmaTransfer writing(child.id(), true);
    writing.add(bytes(back), bytes(values), 3000 * sizeof(int));
    EXPECT_TRUE(writing.finish());
    EXPECT_TRUE(writing.finish());  // nothing more
    CmaTransfer again(child.id(), false);
    again.add(bytes(back), bytes(values), back.size() * sizeof(int));
    EXPECT_TRUE(again.finish());
    EXPECT_EQ(back[2999], 7);
    EXPECT_EQ(back[3000], 3005);
}

TEST(Cma, AProcessThatIsGoneIsFoundOut) {
    std::vector<int> values(10), read(10);
    Child child([] {});
    const pid_t id = child.id();
    child.end();
    EXPECT_FALSE(cma_permitted(address_at(id, values.data())));
    CmaTransfer reading(id, false);
    reading.add(bytes(read), bytes(values), 4);
    EXPECT_FALSE(reading.finish());
}

TEST(Cma, MemoryThatIsGoneIsAnError) {
    std::vector<int> read(10);
    CmaTransfer reading(getpid(), false);
    reading.add(bytes(read), nullptr, 4);
    EXPECT_THROW(reading.finish(), Error);
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

constexpr std::int64_t mebibyte = 1 << 20;
constexpr auto in(std::int64_t runs) {
    return [=] { return runs; };
}

TEST(Cma, WhatPaysDependsOnTheLengthOfRuns) {
    // A byte by the kernel as fast as memory, a run a tenth of a microsecond.
    const CmaCosts costs{1e-10, 1e-7, 1e-10, 5e-10};
    EXPECT_EQ(choose_cma_method(costs, mebibyte, 1, in(1)), CmaMethod::direct);
    EXPECT_EQ(choose_cma_method(costs, mebibyte, 1 << 8, in(1)), CmaMethod::direct);
    EXPECT_EQ(choose_cma_method(costs, mebibyte, 1 << 16, in(1)), CmaMethod::packed);
    EXPECT_EQ(choose_cma_method(costs, mebibyte, 1 << 16, in(1 << 16)), CmaMethod::none);
    EXPECT_EQ(choose_cma_method(costs, mebibyte, 1 << 12, in(1 << 11)), CmaMethod::packed);
    // If the kernel is slower than copies through a buffer, it is of no use.
    EXPECT_EQ(choose_cma_method({6e-10, 1e-7, 1e-10, 5e-10}, mebibyte, 1, in(1)), CmaMethod::none);
}

TEST(Cma, WhatIsMeasuredIsPossible) {
    // A run of one byte costs a system many times what the byte costs.
    EXPECT_EQ(choose_cma_method(mebibyte, mebibyte, in(mebibyte)), CmaMethod::none);
    // Nor is one more copy of the bytes ever worth as many runs as there are without it.
    EXPECT_NE(choose_cma_method(mebibyte, 1, in(1)), CmaMethod::packed);
    EXPECT_NE(choose_cma_method(mebibyte, 1 << 10, in(1 << 10)), CmaMethod::packed);
}

}  // namespace
}  // namespace hocket::shm::cma_test
