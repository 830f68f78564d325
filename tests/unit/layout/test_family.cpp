// SPDX-License-Identifier: BSD-3-Clause
// Intersections of index sets against the sets listed, by both ways of finding them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "layout/common_runs.hpp"
#include "layout/family.hpp"
#include "layout/interval.hpp"

using namespace hocket::layout;

namespace {

std::vector<std::int64_t> listed(const Axis& axis, std::int64_t coordinate) {
    std::vector<std::int64_t> result;
    for (std::int64_t i = 0; i < axis.extent; ++i)
        if ((axis.stride * i + axis.offset) / axis.block % axis.procs == coordinate)
            result.push_back(i);
    return result;
}

void walk(const Family& family, std::size_t level, std::int64_t global, std::int64_t source,
          std::int64_t destination,
          const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) {
    if (level == family.repeats.size()) {
        visit(global, source, destination);
        return;
    }
    const Repeat& repeat = family.repeats[level];
    for (std::int64_t k = 0; k < repeat.count; ++k)
        walk(family, level + 1, global + k * repeat.global, source + k * repeat.source,
             destination + k * repeat.destination, visit);
}

/// Every common element once, each where both sides have it.
void check(const std::vector<Family>& families, const std::vector<std::int64_t>& a,
           const std::vector<std::int64_t>& b) {
    std::vector<std::int64_t> expected, found;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected));
    std::int64_t count = 0;
    for (const Family& family : families) {
        count += family.count();
        walk(family, 0, family.first, family.source, family.destination,
             [&](std::int64_t global, std::int64_t source, std::int64_t destination) {
                 found.push_back(global);
                 ASSERT_EQ(a.at(static_cast<std::size_t>(source)), global);
                 ASSERT_EQ(b.at(static_cast<std::size_t>(destination)), global);
             });
    }
    EXPECT_EQ(count, static_cast<std::int64_t>(expected.size()));
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, expected);
}

}  // namespace

TEST(Family, intersections_of_random_sets) {
    std::mt19937 engine(4);
    const auto between = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
    };
    int met = 0;
    for (int round = 0; round < 4000; ++round) {
        const std::int64_t n = between(1, round % 4 == 0 ? 20000 : 300);
        const auto axis = [&] {
            Axis result{n, between(1, 9), between(1, 12), 1, 0, 0};
            if (between(0, 2) == 0) {
                result.stride = between(1, 7) * (between(0, 1) == 0 ? 1 : -1);
                result.offset = between(0, 30) + (result.stride < 0 ? -result.stride * (n - 1) : 0);
            }
            return result;
        };
        const Axis first = axis(), second = axis();
        const std::int64_t c = between(0, first.procs - 1), d = between(0, second.procs - 1);
        const std::vector<std::int64_t> a = listed(first, c), b = listed(second, d);
        const IndexSet in_a = held_by(first, c), in_b = held_by(second, d);
        ASSERT_EQ(in_a.list(), a);
        for (std::size_t k = 0; k < a.size(); k += 1 + a.size() / 7) {
            ASSERT_EQ(in_a.element(static_cast<std::int64_t>(k)), a[k]);
            ASSERT_EQ(in_a.count_below(a[k]), static_cast<std::int64_t>(k));
        }
        const std::vector<Family> families = intersect(in_a, in_b);
        check(families, a, b);
        ASSERT_TRUE(
            std::is_sorted(families.begin(), families.end(),
                           [](const Family& x, const Family& y) { return x.first < y.first; }));
        std::int64_t count = 0;
        for (const Family& family : families) count += family.count();
        ASSERT_EQ(count_common(in_a, in_b), count);
        if (in_a.repeats() && in_b.repeats()) {
            std::vector<Family> met_families;
            add_common_runs(in_a, in_b, met_families);
            check(met_families, a, b);
            ASSERT_EQ(count_common_runs(in_a, in_b), count);
            ++met;
        }
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(met, 500);
}

TEST(Family, costs_by_periods_and_not_by_blocks) {
    const std::int64_t n = std::int64_t{1} << 50;
    // 2^40 blocks each; what they share is one nested family.
    const IndexSet fine = held_by({n, 4, 1, 1, 0, 0}, 1),
                   coarse = held_by({n, 4, 1024, 1, 0, 0}, 2);
    const std::vector<Family> families = intersect(fine, coarse);
    ASSERT_EQ(families.size(), 1U);
    EXPECT_EQ(families[0].count(), n / 16);
    // Periods without a common divisor: as many families as ways to overlap.
    const IndexSet a = held_by({n, 1000, 1000, 1, 0, 0}, 3),
                   b = held_by({n, 1001, 1001, 1, 0, 0}, 5);
    EXPECT_LE(intersect(a, b).size(), 2 * 2001U);
    EXPECT_NEAR(static_cast<double>(count_common(a, b)), static_cast<double>(n) / 1001000.0,
                static_cast<double>(n) / 1e9);
}

TEST(Interval, boxes_of_an_interval_are_its_places_in_order) {
    const std::vector<std::int64_t> extents{3, 4, 2, 5};
    for (std::int64_t first = 0; first <= 120; first += 7)
        for (std::int64_t last = first; last <= 120; ++last) {
            std::int64_t place = first;
            const auto boxes = boxes_of_interval(extents, first, last);
            EXPECT_LE(boxes.size(), 7U);
            for (const auto& box : boxes)
                for (std::int64_t i = box[0].first; i < box[0].last; ++i)
                    for (std::int64_t j = box[1].first; j < box[1].last; ++j)
                        for (std::int64_t k = box[2].first; k < box[2].last; ++k)
                            for (std::int64_t l = box[3].first; l < box[3].last; ++l)
                                ASSERT_EQ(((i * 4 + j) * 2 + k) * 5 + l, place++);
            ASSERT_EQ(place, last);
        }
}
