// SPDX-License-Identifier: BSD-3-Clause
// One long cycle is cut, and several threads have parts of it.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "hocket/kernel.hpp"
#include "kernel/move_cycles.hpp"

namespace hocket::kernel {
namespace {

using Shape = std::vector<std::int64_t>;

/// The segments that are handed out for a permutation of two dimensions. Each thread waits until
/// `wanted` have come: one that is quick might have all of them before the next one is awake.
class Audience {
  public:
    Audience(const Shape& shape, const Pass& pass, std::size_t wanted) : wanted_(wanted) {
        Shape axes(shape.size());
        for (std::size_t k = 0; k < axes.size(); ++k) axes[k] = static_cast<std::int64_t>(k);
        std::swap(axes[axes.size() - 2], axes.back());
        const Permutation permutation = make_permutation(shape, axes, 8);
        const auto begin = [&](std::int64_t, std::span<const Segment>) { ++begun; };
        const auto move = [&](std::int64_t, std::span<const Segment> segments) { hear(segments); };
        hand_out_cycles(permutation, permutation.block, pass, {}, {begin, move});
    }

    std::vector<Segment> segments;
    std::set<std::thread::id> threads;
    int begun = 0;

  private:
    void hear(std::span<const Segment> more) {
        std::unique_lock lock(mutex_);
        segments.insert(segments.end(), more.begin(), more.end());
        threads.insert(std::this_thread::get_id());
        come_.notify_all();
        come_.wait_for(lock, std::chrono::seconds(60), [&] { return threads.size() >= wanted_; });
    }
    std::size_t wanted_;
    std::mutex mutex_;
    std::condition_variable come_;
};

constexpr std::int64_t moved = 2 * 9007 - 2;  // all but the first and the last, in one cycle

TEST(SharedCycles, several_threads_have_parts_of_one) {
    ASSERT_EQ(cycles(Shape{2, 9007}, Shape{1, 0}), (std::vector<Cycle>{{1, moved}}));
    for (const int threads : {2, 3}) {
        const Audience heard({2, 9007}, {.threads = threads, .schedule = {}},
                             static_cast<std::size_t>(threads));
        EXPECT_EQ(heard.threads.size(), static_cast<std::size_t>(threads));
        EXPECT_EQ(heard.begun, 1);
        EXPECT_GE(heard.segments.size(), static_cast<std::size_t>(8 * threads));
        std::map<std::int64_t, Segment> by_start;
        for (const Segment& segment : heard.segments) by_start.emplace(segment.start, segment);
        ASSERT_EQ(by_start.size(), heard.segments.size());
        // From one to the next they go all around.
        std::int64_t place = heard.segments[0].start, length = 0;
        for (std::size_t k = 0; k < by_start.size(); ++k) {
            length += by_start.at(place).length;
            place = by_start.at(place).next;
        }
        EXPECT_EQ(place, heard.segments[0].start);
        EXPECT_EQ(length, moved);
    }
}

TEST(SharedCycles, stay_whole_where_threads_have_enough_or_a_schedule_is_asked_for) {
    const auto whole = [](const Shape& shape, const Pass& pass) {
        const Audience heard(shape, pass, 1);
        for (const Segment& segment : heard.segments)
            EXPECT_TRUE(segment.whole() && segment.length == moved);
        return heard.segments.size();
    };
    EXPECT_EQ(whole({2, 9007}, {.threads = 1, .schedule = {}}), 1u);
    EXPECT_EQ(whole({4, 2, 9007}, {.threads = 2, .schedule = {}}), 4u);  // items enough
    for (const char* schedule : {"static", "static,balanced", "guided", "dynamic,1", "affinity"})
        EXPECT_EQ(whole({2, 9007}, {.threads = 2, .schedule = LoopSchedule::parse(schedule)}), 1u);
}

}  // namespace
}  // namespace hocket::kernel
