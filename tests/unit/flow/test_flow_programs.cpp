// SPDX-License-Identifier: BSD-3-Clause
// Random programs as flows, some of whose steps wait in their middle: the result is that of the
// program read from top to bottom. HOCKET_PROGRAMS=n makes n short ones (make soak).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hocket/flow.hpp"
#include "unit/watched.hpp"

namespace {

using hocket::Access;
using hocket::Flow;
using hocket::FlowOptions;
using hocket::reads;
using hocket::Region;
using hocket::updates;

// A step of a random program: reads some boxes of an array and changes others, as a function of
// what it has read.
struct Box {
    int row, column, rows, columns, row_step, column_step;
};
struct RandomStep {
    std::vector<Box> in, out;
    double salt;
    int priority;
};

constexpr int side = 24;

class Program {
  public:
    Program(unsigned seed, int steps) : random_(seed) {
        for (int i = 0; i < steps; ++i) {
            RandomStep step;
            for (int k = pick(0, 2); k > 0; --k) step.in.push_back(box());
            for (int k = pick(1, 2); k > 0; --k) step.out.push_back(box());
            step.salt = pick(1, 1000);
            step.priority = pick(0, 3) == 0 ? pick(-2, 3) : 0;
            steps_.push_back(step);
        }
    }
    static void run(const RandomStep& step, std::vector<double>& array) {
        double sum = step.salt;
        for (const Box& box : step.in)
            each(box, [&](int at) { sum = std::fmod(sum * 1.25 + array[at], 1009.0); });
        for (const Box& box : step.out)
            each(box, [&](int at) { array[at] = std::fmod(array[at] * 3 + sum, 1013.0); });
    }
    std::vector<double> sequential() const {
        std::vector<double> array(side * side, 1);
        for (const auto& step : steps_) run(step, array);
        return array;
    }
    std::vector<double> flowing(const FlowOptions& options, bool nested) const {
        std::vector<double> array(side * side, 1);
        Flow flow(options);
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const RandomStep& step = steps_[i];
            std::vector<Access> accesses;
            for (const Box& box : step.in) accesses.push_back(reads(region(box, array)));
            for (const Box& box : step.out) accesses.push_back(updates(region(box, array)));
            const std::span<const Access> all(accesses);
            if (nested && i % 3 == 0)
                flow.task(
                    [&flow, &step, &array, accesses] {
                        flow.task([&] { run(step, array); }, accesses, {step.priority});
                    },
                    all);
            else if (i % 7 == 0)
                flow.comm([&] { run(step, array); }, all, {step.priority});
            else if (i % 11 == 0)
                flow.blocking_task(
                    [&step, &array] {
                        hocket::wait(*pause());
                        run(step, array);
                    },
                    all, {step.priority});
            else if (i % 5 == 0) {
                const auto body = [&step, &array]() -> hocket::Coroutine<> {
                    co_await pause();
                    run(step, array);
                };
                i % 2 == 0 ? flow.task(body, all, {step.priority})
                           : flow.comm(body, all, {step.priority});
            } else
                flow.task([&] { run(step, array); }, all, {step.priority});
            if (i % 97 == 0) flow.wait_on(all.back().region);
        }
        flow.wait();
        return array;
    }

  private:
    /// Ends at the second poll.
    static std::shared_ptr<hocket::Operation> pause() {
        class Pause final : public hocket::Operation {
          public:
            bool poll() override { return std::exchange(polled_, true); }
            std::string text() const override { return "a pause"; }

          private:
            bool polled_ = false;
        };
        return std::make_shared<Pause>();
    }
    int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
    Box box() {
        Box box{pick(0, side - 1), pick(0, side - 1), 1, 1, pick(1, 3), pick(1, 2)};
        box.rows = pick(1, std::min(6, (side - 1 - box.row) / box.row_step + 1));
        box.columns = pick(1, std::min(6, (side - 1 - box.column) / box.column_step + 1));
        return box;
    }
    template <class Visit>
    static void each(const Box& box, Visit&& visit) {
        for (int i = 0; i < box.rows; ++i)
            for (int j = 0; j < box.columns; ++j)
                visit((box.row + i * box.row_step) * side + box.column + j * box.column_step);
    }
    static Region region(const Box& box, std::vector<double>& array) {
        const std::int64_t extents[] = {box.rows, box.columns};
        const std::int64_t strides[] = {8 * side * box.row_step, 8 * box.column_step};
        return {&array[static_cast<std::size_t>(box.row * side + box.column)], extents, strides, 8};
    }
    std::mt19937 random_;
    std::vector<RandomStep> steps_;
};

FlowOptions options_of(unsigned seed, int workers) {
    FlowOptions options;
    options.workers = workers;
    options.window = seed % 2 == 0 ? 8192 : 37;
    options.agent = seed % 3 == 0 ? hocket::Agent::thread : hocket::Agent::between_steps;
    return options;
}

TEST(FlowPrograms, long_ones_give_the_sequential_result) {
    constexpr int length = hocket::testing::by_sanitizer(2000, 200);
    for (unsigned seed = 0; seed < 6; ++seed) {
        const Program program(seed, length);
        const auto expected = program.sequential();
        for (int workers : {1, 2, 3, 4})
            EXPECT_EQ(program.flowing(options_of(seed, workers), seed >= 3), expected)
                << "seed " << seed << ", " << workers << " workers";
    }
}

TEST(FlowPrograms, many_give_the_sequential_result) {
    const char* const given = std::getenv("HOCKET_PROGRAMS");
    const long count = given != nullptr ? std::atol(given) : 50;
    for (long k = 0; k < count; ++k) {
        const auto seed = static_cast<unsigned>(1000 + k);
        const Program program(seed, 60);
        const int workers = 1 + static_cast<int>(k % 4);
        ASSERT_EQ(program.flowing(options_of(seed, workers), k % 5 == 0), program.sequential())
            << "seed " << seed << ", " << workers << " workers";
    }
    std::printf("%ld programs\n", count);
}

}  // namespace
