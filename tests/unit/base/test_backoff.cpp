// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/backoff.hpp"
#include "base/platform.hpp"

using hocket::base::Backoff;
using Stage = Backoff::Stage;

namespace {

/// Looks until it sleeps: how many of them spun.
int spins_of(Backoff& patience) {
    int spins = 0;
    for (auto stage = patience.next(); stage != Stage::sleep; stage = patience.next()) {
        if (stage == Stage::spin) ++spins;
        patience.pause(stage);
    }
    return spins;
}

TEST(Backoff, spins_then_yields_then_sleeps) {
    Backoff patience(false, 1e-3);
    const double begin = hocket::platform::seconds();
    EXPECT_EQ(spins_of(patience), 2000);
    EXPECT_GE(hocket::platform::seconds() - begin, 1e-3);
    EXPECT_GE(patience.now() - begin, 1e-3);
    EXPECT_EQ(patience.next(), Stage::sleep);
}

TEST(Backoff, leaves_shared_cores_at_once) {
    Backoff patience(true);
    EXPECT_EQ(patience.next(), Stage::spin);
    EXPECT_EQ(patience.next(), Stage::yield);
}

TEST(Backoff, begins_again_when_something_has_moved) {
    Backoff patience(true, 0);
    EXPECT_EQ(spins_of(patience), 1);
    patience.reset();
    EXPECT_EQ(spins_of(patience), 1);
}

TEST(Backoff, naps_for_some_tens_of_microseconds) {
    const double begin = hocket::platform::seconds();
    Backoff(true).pause(Stage::sleep);
    EXPECT_GE(hocket::platform::seconds() - begin, 50e-6);
}

/// Keeps threads on the core that this one is on now.
class OneCore {
  public:
    OneCore() {
        pthread_getaffinity_np(pthread_self(), sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    }
    ~OneCore() { pthread_setaffinity_np(pthread_self(), sizeof before_, &before_); }
    OneCore(const OneCore&) = delete;
    OneCore& operator=(const OneCore&) = delete;

  private:
    cpu_set_t before_{};
};

/// Yields until it sleeps, for a minute at most.
bool naps_begin() {
    const double begin = hocket::platform::seconds();
    while (hocket::platform::seconds() - begin < 60)
        if (!hocket::base::yield_or_sleep()) return true;
    return false;
}

/// Yields until it no longer sleeps; returns the number of consecutive prompt sleeps before that.
/// Beside other programs there may be no prompt sleeps, so it ends after some seconds: -1.
int prompt_sleeps() {
    const double begin = hocket::platform::seconds();
    for (int prompt = 0; prompt < 100;) {
        const double before = hocket::platform::seconds();
        if (hocket::base::yield_or_sleep()) return prompt;
        const double now = hocket::platform::seconds();
        prompt = now - before < 300e-6 ? prompt + 1 : 0;
        if (prompt == 0 && now - begin > 10) return -1;
    }
    return 100;
}

TEST(Backoff, naps_where_others_compute) {
    const OneCore core;
    std::atomic<bool> over{false};
    std::vector<std::thread> others;
    for (int i = 0; i < 2; ++i)
        others.emplace_back([&] {
            while (!over) hocket::platform::pause();
        });
    EXPECT_TRUE(naps_begin());
    over = true;
    for (std::thread& other : others) other.join();
    const int prompt = prompt_sleeps();
    if (prompt < 0) GTEST_SKIP() << "other programs leave no prompt naps";
    EXPECT_LT(prompt, 4);  // the fourth tells
}

}  // namespace
