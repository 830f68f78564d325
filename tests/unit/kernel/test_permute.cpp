// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"
#include "boxes.hpp"
#include "hocket/kernel.hpp"
#include "kernel/permutation.hpp"
#include "tried.hpp"
#include "unit/watched.hpp"

namespace {

using namespace hocket::testing;
using namespace hocket::kernel;

constexpr std::int64_t guard = 192;

Extents permuted(const Extents& values, const Extents& axes) {
    Extents out;
    for (const auto axis : axes) out.push_back(values[static_cast<std::size_t>(axis)]);
    return out;
}

/// The array, permuted by the definition, with its guard bytes.
Bytes expected_of(const Bytes& array, const Extents& shape, std::int64_t itemsize,
                  const Extents& axes) {
    const auto size = static_cast<std::int64_t>(array.size());
    const Extents result = permuted(shape, axes);
    const Place from{permuted(dense_strides(shape, itemsize), axes), guard, size};
    const Place to{dense_strides(result, itemsize), guard, size};
    Bytes out = array;
    naive_copy(result, itemsize, array, from, out, to);
    return out;
}

std::int64_t count(const Extents& shape) {
    std::int64_t product = 1;
    for (const auto extent : shape) product *= extent;
    return product;
}

/// An array and what it must become, for one way after another.
struct Array {
    Array(std::mt19937_64& random, const Extents& extents, std::int64_t size, const Extents& order)
        : shape(extents),
          axes(order),
          itemsize(size),
          before(random_bytes(random, count(shape) * itemsize + 2 * guard)),
          after(expected_of(before, shape, itemsize, axes)) {}
    Extents shape, axes;
    std::int64_t itemsize;
    Bytes before, after;
};

/// Permutes in place; a method that does not apply must say so and leave everything alone.
/// Returns whether it applied.
bool check(const Array& given, const InplaceOptions& options) {
    const auto& [shape, axes, itemsize, before, after] = given;
    const std::string what = "shape " + hocket::text::tuple(shape) + " axes " +
                             hocket::text::tuple(axes) + " itemsize " + std::to_string(itemsize) +
                             " method " + options.method + " schedule " + options.schedule +
                             " threads " + std::to_string(options.threads);
    Bytes array = before;
    try {
        permute_inplace(array.data() + guard, shape, itemsize, axes, options);
    } catch (const hocket::Error& error) {
        EXPECT_NE(options.method, "auto") << what << ": " << error.what();
        EXPECT_NE(options.method, "cycles") << what << ": " << error.what();
        EXPECT_TRUE(same(array, before)) << what;
        return false;
    }
    EXPECT_TRUE(same(array, after)) << what << "\n"
                                    << explain_permute(shape, axes, itemsize, options);
    return true;
}

bool check(std::mt19937_64& random, const Extents& shape, std::int64_t itemsize,
           const Extents& axes, const InplaceOptions& options) {
    return check(Array(random, shape, itemsize, axes), options);
}

Extents random_axes(std::mt19937_64& random, std::size_t rank) {
    Extents axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random);
    return axes;
}

TEST(PermuteInplace, random_arrays_by_every_method) {
    std::mt19937_64 random(7);
    const std::vector<std::string> methods{"auto", "cycles", "slab", "square", "tiles", "panels"};
    const std::vector<std::string> schedules{
        "auto",    "static",    "static,balanced", "guided",   "guided,3",
        "dynamic", "dynamic,2", "dynamic,largest", "affinity", "affinity,4"};
    std::vector<int> applied(methods.size());
    constexpr int rounds = by_watch(3000, 150);
    for (int round = 0; round < rounds; ++round) {
        const auto rank = static_cast<std::size_t>(draw(random, 1, 7));
        Extents shape(rank);
        std::int64_t room = 4000;
        for (auto& extent : shape) {
            extent = draw(random, draw(random, 0, 30) == 0 ? 0 : 1,
                          std::clamp<std::int64_t>(room, 1, rank < 3 ? 60 : 14));
            room /= std::max<std::int64_t>(extent, 1);
        }
        if (rank > 1 && draw(random, 0, 3) == 0) shape.back() = shape.front();
        const Extents axes = random_axes(random, rank);
        const std::int64_t itemsize = draw(random, 1, 64);
        const auto method = static_cast<std::size_t>(draw(random, 0, 5));
        const auto schedule = static_cast<std::size_t>(draw(random, 0, 9));
        const InplaceOptions options{.threads = static_cast<int>(draw(random, 1, 4)),
                                     .schedule = schedules[schedule],
                                     .method = methods[method],
                                     .cap = {}};
        applied[method] += check(random, shape, itemsize, axes, options);
        if (HasFailure()) return;
    }
    for (std::size_t method = 0; method < methods.size(); ++method)
        EXPECT_GT(applied[method], rounds / 150) << methods[method];
}

TEST(PermuteInplace, every_small_matrix) {
    std::mt19937_64 random(8);
    for (const std::string method : {"auto", "cycles", "panels", "square", "tiles"})
        for (std::int64_t rows = 1; rows <= 24; rows += by_watch(1, 2))
            for (std::int64_t columns = 1; columns <= 24; ++columns) {
                check(random, {rows, columns}, 8, {1, 0},
                      {.threads = 2, .schedule = "auto", .method = method, .cap = {}});
                if (HasFailure()) return;
            }
}

TEST(PermuteInplace, every_small_rank_three_and_four) {
    std::mt19937_64 random(9);
    for (const Extents& shape : {Extents{3, 4, 3}, Extents{5, 2, 7}, Extents{4, 3, 2, 5},
                                 Extents{2, 3, 3, 2}, Extents{6, 1, 5, 4}}) {
        Extents axes(shape.size());
        std::iota(axes.begin(), axes.end(), 0);
        do
            for (const std::string method : {"auto", "cycles", "panels", "slab", "square", "tiles"})
                for (const int threads : {1, 3})
                    check(random, shape, 4, axes,
                          {.threads = threads, .schedule = "auto", .method = method, .cap = {}});
        while (std::next_permutation(axes.begin(), axes.end()) && !HasFailure());
    }
}

TEST(PermuteInplace, arrays_beyond_the_buffers) {
    std::mt19937_64 random(10);
    struct Case {
        Extents shape, axes;
        std::int64_t itemsize;
    };
    const std::vector<Case> cases{
        {{1024, 1024}, {1, 0}, 8},           {{1000, 1500}, {1, 0}, 8},
        {{1009, 1013}, {1, 0}, 8},                                            // primes
        {{17, 100003}, {1, 0}, 8},                                            // primes, flat
        {{100003, 17}, {1, 0}, 4},                                            // primes, tall
        {{2000, 1201}, {1, 0}, 3},                                            // odd elements
        {{100, 80, 120}, {2, 1, 0}, 8},      {{101, 79, 101}, {2, 1, 0}, 8},  // equal ends
        {{7, 20011, 5}, {2, 1, 0}, 8},       {{31, 30, 37, 29}, {3, 1, 0, 2}, 8},
        {{40, 30, 20, 35}, {1, 3, 0, 2}, 4}, {{2, 500, 3, 400}, {2, 1, 0, 3}, 8},  // long blocks
        {{3, 5, 100000}, {1, 0, 2}, 8},  // blocks in pieces
        {{500, 2, 3, 400}, {0, 2, 1, 3}, 8}};
    for (const auto& [shape, axes, itemsize] : cases) {
        const Array array(random, shape, itemsize, axes);
        for (const int threads : {1, 2, 4})
            for (const std::int64_t cap : {INT64_C(-1), INT64_C(4) << 20, INT64_C(1) << 20}) {
                if (threads_watched && (threads != 2 || draw(random, 0, 7) > 0)) continue;
                InplaceOptions options{
                    .threads = threads, .schedule = "auto", .method = "auto", .cap = {}};
                if (cap >= 0) options.cap = cap;
                EXPECT_TRUE(check(array, options));
                if (HasFailure()) return;
            }
    }
}

TEST(PermuteInplace, prefetching_into_either_cache) {
    std::mt19937_64 random(12);
    struct Case {
        Extents shape, axes;
        std::int64_t itemsize;
        std::string method;
    };
    const std::vector<Case> cases{
        {{301, 301}, {1, 0}, 8, "square"},       {{1500, 1500}, {1, 0}, 4, "square"},
        {{512, 512}, {1, 0}, 16, "square"},      {{900, 3, 900}, {2, 1, 0}, 3, "square"},
        {{800, 1200}, {1, 0}, 8, "tiles"},       {{401, 401, 80}, {1, 0, 2}, 7, "cycles"},
        {{90, 70, 130}, {1, 0, 2}, 8, "cycles"}, {{7001, 30}, {1, 0}, 8, "panels"},
        {{3, 11, 320}, {1, 0, 2}, 8, "cycles"},  {{512, 512}, {1, 0}, 8, "square"},
        {{384, 384}, {1, 0}, 8, "square"},       {{2, 450, 1024}, {0, 2, 1}, 4, "tiles"},
        {{520, 1040}, {1, 0}, 16, "tiles"},      {{401, 301}, {1, 0}, 8, "slab"}};
    for (const Fetching fetching : {Fetching::second_level, Fetching::first_level})
        for (const auto& [shape, axes, itemsize, method] : cases)
            for (const int threads : {1, 3}) {
                if (threads_watched && (threads == 1 || draw(random, 0, 2) > 0)) continue;
                Distances trial = distances();
                trial.fetching = fetching;
                trial.long_ahead = draw(random, 64, 40000);
                trial.far_array = 0;
                trial.paired_block = draw(random, 64, 2000);
                trial.pair_tile = draw(random, 4, 80) << 10;
                trial.fetched_tile = draw(random, 0, 1) == 0 ? 64 : 1 << 20;
                const TriedDistances tried(trial);
                check(random, shape, itemsize, axes,
                      {.threads = threads, .schedule = "auto", .method = method, .cap = {}});
                if (HasFailure()) return;
            }
}

TEST(PermuteInplace, few_long_cycles_are_shared_among_threads) {
    std::mt19937_64 random(11);
    for (const Extents& shape :
         {Extents{500, by_watch(1000, 100), 8}, Extents{50, 51, 49}, Extents{2, 9001, 5}}) {
        const Array array(random, shape, 8, {1, 0, 2});
        for (const int threads : {1, 2, 3, 4})
            for (const std::string schedule : {"auto", "static,balanced", "dynamic,1,largest"}) {
                if (threads_watched && threads % 2 == 1) continue;
                check(array,
                      {.threads = threads, .schedule = schedule, .method = "cycles", .cap = {}});
                if (HasFailure()) return;
            }
    }
}

TEST(PermuteInplace, refuses_what_cannot_be_and_moves_nothing) {
    Bytes array(600 * 8, std::byte{5});
    const Bytes before = array;
    const auto refused = [&](const Extents& shape, std::int64_t itemsize, const Extents& axes,
                             const InplaceOptions& options, const std::string& word) {
        try {
            permute_inplace(array.data(), shape, itemsize, axes, options);
            ADD_FAILURE() << "accepted; should name " << word;
        } catch (const hocket::Error& error) {
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
        EXPECT_TRUE(array == before);
    };
    refused({20, 30}, 8, {0}, {}, "axes (0)");
    refused({20, 30}, 8, {1, 1}, {}, "axes (1, 1)");
    refused({20, 30}, 8, {1, 2}, {}, "once");
    refused({20, 30}, 0, {1, 0}, {}, "not 0");
    refused({-20, 30}, 8, {1, 0}, {}, "negative");
    refused({INT64_C(1) << 40, INT64_C(1) << 40}, 8, {1, 0}, {}, "2^63");
    const InplaceOptions plain{.threads = 1, .schedule = "auto", .method = "auto", .cap = {}};
    InplaceOptions options = plain;
    options.method = "cycle";
    refused({20, 30}, 8, {1, 0}, options, "did you mean 'cycles'");
    options = plain;
    options.schedule = "dynamic,0";
    refused({20, 30}, 8, {1, 0}, options, "dynamic,0");
    options.schedule = "static,4";
    refused({20, 30}, 8, {1, 0}, options, "static,4");
    options = plain;
    options.method = "square";
    refused({20, 30}, 8, {1, 0}, options, "no square");
    options = plain;
    options.cap = 10;
    refused({20, 30}, 8, {1, 0}, options, "10");
    options.cap = -1;
    refused({20, 30}, 8, {1, 0}, options, "-1");
    options = plain;
    options.threads = -1;
    refused({20, 30}, 8, {1, 0}, options, "threads is -1");
    permute_inplace(nullptr, Extents{0, 5}, 8, Extents{1, 0}, plain);
    permute_inplace(array.data(), Extents{20, 30}, 8, Extents{0, 1}, plain);
    EXPECT_TRUE(array == before);
}

TEST(ExplainPermute, says_what_and_why) {
    const InplaceOptions one{.threads = 1, .schedule = "auto", .method = "auto", .cap = {}};
    const auto says = [&](const Extents& shape, const Extents& axes, const char* word) {
        const std::string text = explain_permute(shape, axes, 8, one);
        EXPECT_NE(text.find(word), std::string::npos) << text;
    };
    says({4096, 4096}, {1, 0}, "squares");
    says({4000, 3000}, {1, 0}, "tiles");
    says({4001, 3000}, {1, 0}, ", then ");
    says({7001, 3001}, {1, 0}, "of 7001");
    says({128, 512, 128}, {1, 0, 2}, "cycles of 1024 bytes blocks");
    says({100000, 8, 9}, {0, 2, 1}, "slabs");
    says({100, 200}, {0, 1}, "nothing moves");
    // A plan that is kept serves only calls with the same means. By these costs, one that needs
    // less memory takes longer.
    const TriedCosts tried(PassCosts::zen3());
    InplaceOptions other = one;
    const auto of = [&] { return explain_permute(Extents{700, 400}, Extents{1, 0}, 8, other); };
    const auto bytes_beside = [&] {
        const std::string text = of();
        return std::stoll(text.substr(text.rfind("; ") + 2));
    };
    const auto wanted = bytes_beside();
    other.cap = wanted - 1;
    EXPECT_LT(bytes_beside(), wanted);
    other.cap = 1'000'000'000;
    const auto of_one_thread = bytes_beside();
    other.threads = 64;
    EXPECT_NE(bytes_beside(), of_one_thread);
    other = one;
    other.method = "slab";
    EXPECT_NE(of().find("slabs"), std::string::npos) << of();
    for (const Extents& shape : {Extents{30000, 30000}, Extents{65537, 65539},
                                 Extents{3, INT64_C(1) << 31}, Extents{99991, 99989}}) {
        const std::string text = explain_permute(shape, Extents{1, 0}, 8, one);
        EXPECT_EQ(text.find("cycles of 8 bytes"), std::string::npos) << text;
    }
}

TEST(Permute, refuses_what_overlaps_and_moves_nothing) {
    std::vector<std::int64_t> memory(200, 7);
    const Extents shape{6, 10}, axes{1, 0}, dense{80, 8}, transposed{48, 8};
    const auto copy = [&](std::int64_t to, const Extents& strides, int threads = 1) {
        permute(memory.data() + 60, shape, dense, 8, axes, memory.data() + to, strides,
                {.threads = threads, .schedule = "auto", .stores = Stores::automatic});
    };
    std::vector<std::int64_t> before(200);
    for (std::size_t k = 0; k < 200; ++k) before[k] = memory[k] = static_cast<std::int64_t>(k);
    for (const std::int64_t to : {60, 61, 119, 1, 30})
        EXPECT_THROW(copy(to, transposed), hocket::Error);
    EXPECT_THROW(copy(60, Extents{8, 80}), hocket::Error);    // each element onto itself
    EXPECT_THROW(copy(61, Extents{96, 16}), hocket::Error);   // among its elements
    EXPECT_THROW(copy(160, Extents{-48, 8}), hocket::Error);  // from behind
    EXPECT_THROW(copy(0, Extents{0, 8}), hocket::Error);      // ten columns in one place
    EXPECT_THROW(copy(0, Extents{48, 4}), hocket::Error);
    EXPECT_THROW(copy(0, transposed, -2), hocket::Error);
    EXPECT_EQ(memory, before);
    copy(0, transposed);
    copy(120, transposed);
    EXPECT_EQ(memory[1], 70);
    EXPECT_EQ(memory[121], 70);
}

TEST(Permute, random_arrays_under_every_schedule) {
    std::mt19937_64 random(12);
    for (int round = 0; round < by_watch(1500, 100); ++round) {
        const auto rank = static_cast<std::size_t>(draw(random, 0, 7));
        Extents shape(rank);
        std::int64_t room = 3000;
        for (auto& extent : shape) {
            extent = draw(random, draw(random, 0, 30) == 0 ? 0 : 1,
                          std::clamp<std::int64_t>(room, 1, 20));
            room /= std::max<std::int64_t>(extent, 1);
        }
        const Extents axes = random_axes(random, rank), result = permuted(shape, axes);
        const std::int64_t itemsize = draw(random, 1, 64);
        const Place from = random_place(random, shape, itemsize, true, true);
        const Place to = random_place(random, result, itemsize, true, false);
        const Bytes source = random_bytes(random, from.bytes);
        const Bytes guards = random_bytes(random, to.bytes);
        Bytes expected = guards, found = guards;
        naive_copy(result, itemsize, source, {permuted(from.strides, axes), from.first, from.bytes},
                   expected, to);
        const char* schedules[] = {"auto", "static", "guided", "dynamic,2", "affinity"};
        permute(source.data() + from.first, shape, from.strides, itemsize, axes,
                found.data() + to.first, to.strides,
                {.threads = static_cast<int>(draw(random, 1, 4)),
                 .schedule = schedules[draw(random, 0, 4)],
                 .stores = draw(random, 0, 1) == 1 ? Stores::cached : Stores::automatic});
        ASSERT_TRUE(same(found, expected));
    }
}

}  // namespace
