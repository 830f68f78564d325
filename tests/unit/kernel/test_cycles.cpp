// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "hocket/kernel.hpp"
#include "kernel/cycle_finder.hpp"
#include "kernel/numbers.hpp"
#include "kernel/permutation.hpp"
#include "unit/watched.hpp"

namespace {

using namespace hocket::kernel;
using Shape = std::vector<std::int64_t>;

/// The definition: where the element at each place of the permuted array lay before.
std::vector<std::int64_t> sources(const Shape& shape, const Shape& axes) {
    const auto strides = dense_strides(shape, 1);
    Shape result, index(shape.size());
    for (const auto axis : axes) result.push_back(shape[static_cast<std::size_t>(axis)]);
    std::vector<std::int64_t> out;
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return out;
    for (;;) {
        std::int64_t place = 0;
        for (std::size_t k = 0; k < axes.size(); ++k)
            place += index[k] * strides[static_cast<std::size_t>(axes[k])];
        out.push_back(place);
        std::size_t k = index.size();
        while (k > 0 && ++index[k - 1] == result[k - 1]) index[--k] = 0;
        if (k == 0) return out;
    }
}

std::map<std::int64_t, std::int64_t> lengths(const std::vector<Cycle>& cycles) {
    std::map<std::int64_t, std::int64_t> count;
    for (const Cycle& cycle : cycles) ++count[cycle.length];
    return count;
}

TEST(Numbers, factors_multiply_back_and_are_prime) {
    std::mt19937_64 random(4);
    for (int round = 0; round < 300; ++round) {
        const auto n = static_cast<std::int64_t>(random() >> (1 + random() % 62)) | 1;
        std::int64_t product = 1;
        for (const PrimePower factor : factorize(n)) {
            product *= factor.value();
            for (std::int64_t p = 2; p * p <= factor.prime && p < 2000; ++p)
                EXPECT_NE(factor.prime % p, 0);
        }
        EXPECT_EQ(product, n);
    }
    const auto large = factorize(3037000493LL * 3037000493LL);  // the square of a prime
    ASSERT_EQ(large.size(), 1u);
    EXPECT_EQ(large[0].prime, 3037000493LL);
    EXPECT_EQ(large[0].exponent, 2);
}

TEST(Numbers, logarithms_raise_back) {
    std::mt19937_64 random(5);
    for (const std::int64_t prime : {3LL, 5LL, 7LL, 101LL, 7919LL, 1000003LL, 2147483647LL}) {
        const std::int64_t root = primitive_root(prime);
        for (int round = 0; round < 5; ++round) {
            const std::int64_t x = static_cast<std::int64_t>(random() >> 1) % (prime - 1);
            EXPECT_EQ(discrete_logarithm(root, prime - 1, power_mod(root, x, prime), prime), x);
        }
    }
    EXPECT_EQ(discrete_logarithm(5, 1 << 18, power_mod(5, 99999, 1 << 20), 1 << 20), 99999);
    const std::int64_t m = 40487LL * 40487LL;  // 5 is a root of the prime, but not of its square
    const std::int64_t root = primitive_root(40487);
    EXPECT_NE(root, 5);
    EXPECT_EQ(discrete_logarithm(root, 40487LL * 40486, power_mod(root, 123456789, m), m),
              123456789);
}

void check_finder(const Shape& shape, const Shape& axes, std::int64_t longest) {
    const Permutation permutation = make_permutation(shape, axes, 1);
    if (permutation.identity()) return;
    const Successor next(permutation);
    CycleFinder finder(permutation);
    std::vector<Segment> segments;
    while (finder.find(segments, segments.size() + 3, longest)) {
    }
    std::vector<int> seen(static_cast<std::size_t>(permutation.blocks()));
    std::map<std::int64_t, std::int64_t> after;  // first place of a piece -> of the next one
    for (const Segment& segment : segments) {
        ASSERT_LE(segment.length, longest);
        std::int64_t place = segment.start;
        for (std::int64_t k = 0; k < segment.length; ++k) {
            ++seen[static_cast<std::size_t>(place)];
            place = next(place);
        }
        ASSERT_EQ(place, segment.next);
        ASSERT_TRUE(after.emplace(segment.start, segment.next).second);
    }
    for (const auto& [start, following] : after) ASSERT_EQ(after.count(following), 1u);
    for (std::int64_t place = 0; place < permutation.blocks(); ++place)
        ASSERT_EQ(seen[static_cast<std::size_t>(place)], next(place) == place ? 0 : 1)
            << permutation.text() << " place " << place;
}

TEST(CycleFinder, arithmetic_finds_every_cycle_once) {
    const std::int64_t most = hocket::testing::by_watch(60, 20);
    for (std::int64_t rows = 2; rows <= most; ++rows)
        for (std::int64_t columns = 2; columns <= most; ++columns) {
            check_finder({rows, columns}, {1, 0}, INT64_MAX);
            if (HasFatalFailure()) return;
        }
    for (const Shape& shape : {Shape{128, 512}, Shape{1000, 500}, Shape{997, 1009}, Shape{3, 65537},
                               Shape{65536, 2}, Shape{1023, 1025}, Shape{243, 244}}) {
        for (const std::int64_t longest : {INT64_MAX, INT64_C(1000), INT64_C(7)}) {
            if (hocket::testing::threads_watched && shape[0] * shape[1] > 200'000) continue;
            check_finder(shape, {1, 0}, longest);
        }
        if (HasFatalFailure()) return;
    }
}

TEST(CycleFinder, scan_finds_every_cycle_once) {
    for (const Shape& shape : {Shape{2, 3, 4}, Shape{7, 5, 6}, Shape{5, 5, 5}, Shape{20, 30, 17}})
        for (const std::int64_t longest : {INT64_MAX, INT64_C(5), INT64_C(1)})
            check_finder(shape, {2, 1, 0}, longest);
    for (const Shape& axes : {Shape{3, 1, 2, 0}, Shape{1, 3, 0, 2}, Shape{2, 0, 3, 1}})
        check_finder({4, 6, 3, 5}, axes, 100);
}

TEST(Cycles, of_the_paper_are_as_printed) {
    EXPECT_EQ(cycle_path(Shape{2, 3}, Shape{1, 0}, 1), (Shape{1, 3, 4, 2, 1}));
    const Shape shape{2, 3, 4}, axes{2, 0, 1};
    EXPECT_EQ(cycle_path(shape, axes, 1), (Shape{1, 4, 16, 18, 3, 12, 2, 8, 9, 13, 6, 1}));
    EXPECT_EQ(cycle_path(shape, axes, 5), (Shape{5, 20, 11, 21, 15, 14, 10, 17, 22, 19, 7, 5}));
    EXPECT_EQ(cycles(shape, axes), (std::vector<Cycle>{{1, 11}, {5, 11}}));
}

TEST(Cycles, counts_of_the_papers_four_arrays) {
    using Lengths = std::map<std::int64_t, std::int64_t>;
    const Shape axes{1, 0, 2};
    const auto first = cycles(Shape{128, 512, 64}, axes);
    EXPECT_EQ(first.size(), 4114u);
    EXPECT_EQ(lengths(first), (Lengths{{16, 4080}, {8, 30}, {4, 3}, {2, 1}}));
    const auto second = cycles(Shape{256, 1024, 16}, axes);
    EXPECT_EQ(second.size(), 29140u);
    for (const auto& [length, count] : lengths(second)) EXPECT_TRUE(length == 9 || length == 3);
    const auto third = cycles(Shape{500, 1000, 8}, axes);
    EXPECT_EQ(third.size(), 132u);
    std::set<std::int64_t> seen;
    for (const auto& [length, count] : lengths(third)) seen.insert(length);
    EXPECT_EQ(seen, (std::set<std::int64_t>{8890, 1778, 70, 14, 5}));
    seen.clear();
    const auto fourth = cycles(Shape{25, 100, 32}, axes);
    EXPECT_EQ(fourth.size(), 42u);
    for (const auto& [length, count] : lengths(fourth)) seen.insert(length);
    EXPECT_EQ(seen, (std::set<std::int64_t>{168, 24, 21, 8, 3}));
}

TEST(Cycles, agree_with_the_definition) {
    std::mt19937_64 random(6);
    for (int round = 0; round < 400; ++round) {
        const std::size_t rank = 1 + random() % 6;
        Shape shape(rank), axes(rank);
        for (auto& extent : shape) extent = 1 + static_cast<std::int64_t>(random() % 6);
        std::iota(axes.begin(), axes.end(), 0);
        std::shuffle(axes.begin(), axes.end(), random);
        const Permutation permutation = make_permutation(shape, axes, 1);
        const auto all = sources(shape, axes);
        // Whole blocks move: their places are the elements' places divided by the block.
        std::vector<Cycle> expected;
        std::vector<bool> seen(all.size());
        for (std::size_t k = 0; k < all.size(); k += static_cast<std::size_t>(permutation.block)) {
            std::int64_t length = 0;
            for (std::size_t p = k; !seen[p]; p = static_cast<std::size_t>(all[p]), ++length)
                seen[p] = true;
            if (length > 1)
                expected.push_back({static_cast<std::int64_t>(k) / permutation.block, length});
        }
        ASSERT_EQ(cycles(shape, axes), expected) << permutation.text();
    }
}

TEST(Cycles, of_nothing_and_of_wrong_axes) {
    EXPECT_TRUE(cycles(Shape{}, Shape{}).empty());
    EXPECT_TRUE(cycles(Shape{0, 5}, Shape{1, 0}).empty());
    EXPECT_TRUE(cycles(Shape{7, 1}, Shape{1, 0}).empty());
    EXPECT_TRUE(cycles(Shape{7, 3}, Shape{0, 1}).empty());
    EXPECT_EQ(cycle_path(Shape{2, 3}, Shape{1, 0}, 5), (Shape{5, 5}));
    for (const Shape& axes : {Shape{0}, Shape{0, 0}, Shape{0, 2}, Shape{-1, 0}, Shape{0, 1, 2}})
        EXPECT_THROW(cycles(Shape{2, 3}, axes), hocket::Error);
    EXPECT_THROW(cycles(Shape{2, -3}, Shape{1, 0}), hocket::Error);
    EXPECT_THROW(cycle_path(Shape{2, 3}, Shape{1, 0}, 6), hocket::Error);
    EXPECT_THROW(cycle_path(Shape{2, 3}, Shape{1, 0}, -1), hocket::Error);
    EXPECT_THROW(cycle_path(Shape{0, 3}, Shape{1, 0}, 0), hocket::Error);
    const std::int64_t large = INT64_C(1) << 40;
    EXPECT_THROW(cycles(Shape{large, large}, Shape{1, 0}), hocket::Error);
}

}  // namespace
