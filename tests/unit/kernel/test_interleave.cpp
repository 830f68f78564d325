// SPDX-License-Identifier: BSD-3-Clause
// Copies that lie among each other, made in one pass: the same bytes as one by one, and no others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "boxes.hpp"
#include "kernel/cpu.hpp"
#include "kernel/interleave.hpp"
#include "unit/watched.hpp"

namespace hocket::kernel {
namespace {

using namespace hocket::testing;

struct Case {
    std::int64_t threads, run, turns, more, shift;  // `more`: of the first threads; `shift`: bytes
    std::int64_t rows = 1;
};

// Runs of several sources by turns, in a random order of the sources.
class Woven {
  public:
    Woven(std::mt19937_64& random, const Case& given) : case_(given) {
        const std::int64_t stride = given.threads * given.run;
        const std::int64_t row = (given.turns + 1) * stride + 4 * draw(random, 1, 40);
        std::vector<std::size_t> order(static_cast<std::size_t>(given.threads));
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random);
        for (std::size_t i = 0; i < order.size(); ++i) {
            const auto place = static_cast<std::int64_t>(order[i]);
            const std::int64_t count = given.turns + (place < given.more ? 1 : 0);
            const std::int64_t offset = 4 * draw(random, 0, 9);
            const std::int64_t row_there = count * given.run + 4 * draw(random, 0, 9);
            sources_.push_back(random_bytes(random, offset + given.rows * row_there));
            const Extents dense{row_there, given.run}, spaced{row, stride};
            copies_.push_back({Copy(Extents{given.rows, count}, given.run, dense, spaced), offset,
                               64 + given.shift + place * given.run});
        }
        bytes_ = 192 + given.shift + given.rows * row;
    }

    std::vector<OffsetCopy>& copies() { return copies_; }
    std::optional<InterleavedCopy> interleaved() const {
        std::vector<const OffsetCopy*> each;
        for (const OffsetCopy& copy : copies_) each.push_back(&copy);
        return InterleavedCopy::of(each);
    }

    void check(std::mt19937_64& random, const InterleavedCopy& interleaved) const {
        const Bytes guards = random_bytes(random, bytes_);
        std::vector<CacheLine> expected(static_cast<std::size_t>(bytes_ / 64 + 1)),
            result(expected.size());
        std::memcpy(expected.data(), guards.data(), guards.size());
        std::memcpy(result.data(), guards.data(), guards.size());
        std::vector<const std::byte*> from;
        for (std::size_t i = 0; i < copies_.size(); ++i) {
            from.push_back(sources_[i].data());
            copies_[i].copy.run(from[i] + copies_[i].source_offset,
                                expected[0].bytes + copies_[i].destination_offset, 1,
                                Stores::cached);
        }
        interleaved.run(from, result[0].bytes);
        ASSERT_EQ(std::memcmp(result.data(), expected.data(), guards.size()), 0)
            << case_.threads << " sources, runs of " << case_.run << " bytes, " << case_.turns
            << " turns and " << case_.more << " more, shifted by " << case_.shift << ", "
            << case_.rows << " rows";
    }

  private:
    struct alignas(64) CacheLine {
        std::byte bytes[64];
    };
    Case case_;
    std::vector<Bytes> sources_;
    std::vector<OffsetCopy> copies_;
    std::int64_t bytes_ = 0;
};

bool weaves() {
    return cpu_level() == CpuLevel::avx512;
}

TEST(InterleavedCopy, CopiesWhatTheCopiesWould) {
    if (!weaves()) GTEST_SKIP() << "this processor has no AVX-512";
    std::mt19937_64 random(20261122);
    for (const std::int64_t run : {4, 8, 16})
        for (std::int64_t threads = 2; threads * run <= 64; threads *= 2)
            for (int repeat = 0; repeat < by_watch(12, 4); ++repeat) {
                const Case given{threads,
                                 run,
                                 draw(random, 64, 400),
                                 draw(random, 0, threads - 1),
                                 draw(random, 0, 15) * 4,
                                 repeat % 4 + 1};
                Woven woven(random, given);
                const auto interleaved = woven.interleaved();
                ASSERT_TRUE(interleaved.has_value());
                woven.check(random, *interleaved);
            }
}

TEST(InterleavedCopy, LeavesAloneWhatDoesNotMakeUpWholeLines) {
    std::mt19937_64 random(7);
    const auto woven = [&](const Case& given, std::size_t missing = 0) {
        Woven made(random, given);
        for (; missing > 0; --missing) made.copies().pop_back();
        return made.interleaved().has_value();
    };
    EXPECT_EQ(woven({2, 8, 100, 0, 0}), weaves());
    EXPECT_FALSE(woven({2, 8, 20, 0, 0})) << "too short";
    EXPECT_FALSE(woven({3, 8, 100, 0, 0})) << "24 bytes do not divide a line";
    EXPECT_FALSE(woven({4, 8, 100, 0, 0}, 1)) << "one of four is missing";
    EXPECT_FALSE(woven({1, 8, 100, 0, 0})) << "nothing lies between the runs of one";
    EXPECT_FALSE(woven({2, 6, 100, 0, 0})) << "no whole words";
    Woven twice(random, {2, 8, 100, 0, 0});
    twice.copies()[1].destination_offset = twice.copies()[0].destination_offset;
    EXPECT_FALSE(twice.interleaved().has_value()) << "both at one place";
    Woven rows(random, {2, 8, 100, 0, 0, 3}), others(random, {2, 8, 100, 0, 0, 4});
    rows.copies()[1] = others.copies()[1];
    EXPECT_FALSE(rows.interleaved().has_value()) << "not the same rows";
}

}  // namespace
}  // namespace hocket::kernel
