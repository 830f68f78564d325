// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/platform.hpp"
#include "base/pool.hpp"
#include "hocket/error.hpp"
#include "unit/watched.hpp"

namespace {

using hocket::base::parallel_for;

class Environment {
  public:
    explicit Environment(const char* value) {
        if (const char* old = std::getenv("HOCKET_THREADS")) old_ = old;
        setenv("HOCKET_THREADS", value, 1);
    }
    ~Environment() {
        if (old_.empty())
            unsetenv("HOCKET_THREADS");
        else
            setenv("HOCKET_THREADS", old_.c_str(), 1);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    std::string old_;
};

TEST(Pool, every_part_runs_exactly_once) {
    for (int threads : {1, 2, 3, 4, 7})
        for (std::int64_t parts : {0, 1, 2, 3, 10, 1000}) {
            std::vector<std::atomic<int>> seen(static_cast<std::size_t>(parts));
            parallel_for(threads, parts,
                         [&](std::int64_t part) { ++seen[static_cast<std::size_t>(part)]; });
            for (const auto& count : seen) EXPECT_EQ(count.load(), 1);
        }
}

TEST(Pool, never_uses_more_threads_than_asked) {
    for (int round = 0; round < 50; ++round) {
        std::mutex mutex;
        std::set<std::thread::id> ids;
        parallel_for(2, 64, [&](std::int64_t) {
            const std::lock_guard lock(mutex);
            ids.insert(std::this_thread::get_id());
        });
        EXPECT_LE(ids.size(), 2u);
    }
}

#ifndef HOCKET_SIMULATED
TEST(Pool, shares_the_parts_among_threads) {
    std::atomic<int> met{0};
    // Each part waits for the other two, which only three threads can run at a time.
    parallel_for(3, 3, [&](std::int64_t) {
        ++met;
        while (met < 3) std::this_thread::yield();
    });
    EXPECT_EQ(met, 3);
}
#endif

TEST(Pool, the_first_exception_reaches_the_caller_and_the_pool_lives_on) {
    for (int threads : {1, 4}) {
        EXPECT_THROW(parallel_for(threads, 100,
                                  [](std::int64_t part) {
                                      if (part == 3) throw std::runtime_error("three");
                                  }),
                     std::runtime_error);
        std::atomic<int> count{0};
        parallel_for(threads, 100, [&](std::int64_t) { ++count; });
        EXPECT_EQ(count.load(), 100);
    }
}

TEST(Pool, calls_nest) {
    std::atomic<int> count{0};
    parallel_for(4, 8, [&](std::int64_t) {
        parallel_for(4, 8,
                     [&](std::int64_t) { parallel_for(2, 4, [&](std::int64_t) { ++count; }); });
    });
    EXPECT_EQ(count.load(), 8 * 8 * 4);
}

TEST(Pool, serves_several_callers_at_once) {
    std::atomic<int> count{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([&] {
            for (int round = 0; round < 100; ++round)
                parallel_for(3, 16, [&](std::int64_t) { ++count; });
        });
    for (auto& caller : callers) caller.join();
    EXPECT_EQ(count.load(), 4 * 100 * 16);
}

TEST(Pool, works_in_a_forked_child) {
    if (hocket::testing::threads_watched)
        GTEST_SKIP() << "ThreadSanitizer ends a child that starts threads";
    std::atomic<int> before{0};
    parallel_for(3, 30, [&](std::int64_t) { ++before; });
    ASSERT_EQ(before.load(), 30);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(100);  // a hang must not outlive the test
        std::atomic<int> count{0};
        parallel_for(3, 30, [&](std::int64_t) { ++count; });
        _exit(count.load() == 30 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

#ifndef HOCKET_SIMULATED
TEST(Pool, the_environment_sets_the_default) {
    {
        const Environment three("3");
        EXPECT_EQ(hocket::base::default_threads(), 3);
        EXPECT_EQ(hocket::base::resolve_threads(0), 3);
        EXPECT_EQ(hocket::base::resolve_threads(5), 5);
    }
    for (const char* wrong : {"zero", "0", "-1", "2x", "99999999999999999999", "4096"}) {
        const Environment environment(wrong);
        try {
            hocket::base::default_threads();
            ADD_FAILURE() << "accepted " << wrong;
        } catch (const hocket::Error& error) {
            EXPECT_NE(std::string(error.what()).find(wrong), std::string::npos);
        }
    }
    EXPECT_GE(hocket::base::default_threads(), 1);
}
#endif

TEST(Share, is_what_a_thread_uses_when_nobody_says) {
    const Environment set("6");
    {
        const hocket::base::ThreadShare one(1);
        EXPECT_EQ(hocket::base::default_threads(), 1);
        EXPECT_EQ(hocket::base::resolve_threads(3), 3);
        const hocket::base::ThreadShare two(2);
        EXPECT_EQ(hocket::base::default_threads(), 2);
    }
    EXPECT_EQ(hocket::base::default_threads(), 6);
}

#ifndef HOCKET_SIMULATED
TEST(ServiceThreads, serves_beside_the_pool_until_it_is_taken_back) {
    std::atomic<bool> over{false};
    std::atomic<int> serving{0};
    std::set<int> numbers;
    std::mutex mutex;
    {
        const hocket::base::ServiceThreads crew(3, [&](int number) {
            {
                const std::lock_guard lock(mutex);
                numbers.insert(number);
            }
            ++serving;
            while (!over) std::this_thread::yield();
            --serving;
        });
        while (serving < 3) std::this_thread::yield();
        // Others are there for loops meanwhile: two parts that wait for each other show it.
        std::atomic<int> met{0};
        parallel_for(2, 2, [&](std::int64_t) {
            ++met;
            while (met < 2) std::this_thread::yield();
        });
        over = true;
    }
    EXPECT_EQ(serving, 0);
    EXPECT_EQ(numbers, (std::set<int>{0, 1, 2}));
}

TEST(ServiceThreads, may_be_taken_back_before_it_has_begun) {
    for (int i = 0; i < 200; ++i) {
        std::atomic<bool> over{false};
        const hocket::base::ServiceThreads crew(2, [&](int) {
            while (!over) std::this_thread::yield();
        });
        over = true;
    }
}
#endif

/// Short calls that wake nobody, long ones that do, calls in a row, and calls after a rest.
TEST(Pool, runs_every_part_once_whoever_is_awake) {
    for (int round = 0; round < 60; ++round) {
        if (round % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        std::vector<std::atomic<int>> runs(9);
        parallel_for(
            4, 9,
            [&](std::int64_t part) {
                if (round % 20 == 10) std::this_thread::sleep_for(std::chrono::microseconds(50));
                ++runs[static_cast<std::size_t>(part)];
            },
            round % 3 == 0 ? hocket::base::Wake::at_once : hocket::base::Wake::if_long);
        for (const auto& each : runs) ASSERT_EQ(each.load(), 1) << "round " << round;
    }
}

/// The number of threads that run a call's parts, all of which take so long.
std::size_t threads_of_call(std::chrono::microseconds each) {
    std::mutex guard;
    std::set<std::thread::id> seen;
    parallel_for(
        2, 8,
        [&](std::int64_t) {
            if (each.count() > 0) std::this_thread::sleep_for(each);
            const std::lock_guard lock(guard);
            seen.insert(std::this_thread::get_id());
        },
        hocket::base::Wake::if_long);
    return seen.size();
}

/// A busy machine may delay a thread, or the caller's first part; not each of a hundred times.
TEST(Pool, wakes_threads_for_long_calls_and_leaves_them_asleep_for_short_ones) {
    const auto after_a_rest = [](std::chrono::microseconds each) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return threads_of_call(each);
    };
    int rounds = 0;
    while (rounds < 100 && after_a_rest(std::chrono::milliseconds(1)) < 2) ++rounds;
    EXPECT_LT(rounds, 100);
    for (rounds = 0; rounds < 100 && after_a_rest(std::chrono::microseconds(0)) > 1;) ++rounds;
    EXPECT_LT(rounds, 100);
}

/// So repeated calls find their memory in the cache of their core.
TEST(Pool, the_caller_takes_parts_from_the_front) {
    std::mutex guard;
    std::map<std::thread::id, std::vector<std::int64_t>> taken;
    for (int round = 0; round < 20; ++round) {
        taken.clear();
        parallel_for(2, 64, [&](std::int64_t part) {
            const std::lock_guard lock(guard);
            taken[std::this_thread::get_id()].push_back(part);
        });
        for (auto& [thread, parts] : taken) {
            if (thread != std::this_thread::get_id()) std::reverse(parts.begin(), parts.end());
            EXPECT_TRUE(std::is_sorted(parts.begin(), parts.end()));
            EXPECT_EQ(thread == std::this_thread::get_id() ? parts.front() : parts.back(),
                      thread == std::this_thread::get_id() ? 0 : 63);
        }
    }
}

/// A thread that is woken off its caller's core may use all cores afterwards.
TEST(Pool, threads_keep_their_cores) {
    if (hocket::platform::cores() == 1) GTEST_SKIP() << "one core";
    cpu_set_t mine;
    ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    std::atomic<int> others{0};
    for (int round = 0; round < 200 && others == 0; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the threads fall asleep
        parallel_for(2, 8, [&](std::int64_t) {
            cpu_set_t now;
            ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
            EXPECT_TRUE(CPU_EQUAL(&now, &mine));
            const double end = hocket::platform::seconds() + 1e-3;
            while (hocket::platform::seconds() < end) {
            }
            if (gettid() != getpid()) ++others;
        });
    }
    EXPECT_GT(others.load(), 0);
}

}  // namespace
