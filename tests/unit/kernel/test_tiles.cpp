// SPDX-License-Identifier: BSD-3-Clause
// The kernels of every instruction set of this processor, on tiles of all shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "boxes.hpp"
#include "kernel/cpu.hpp"
#include "kernel/tile_vectors.hpp"
#include "kernel/tiles.hpp"
#include "unit/watched.hpp"

namespace hocket::kernel {
namespace {

using testing::Bytes;

/// Rows of `units` units each, `gap` bytes apart; listed, their order is shuffled.
struct Rows {
    std::int64_t pitch;
    std::vector<std::int64_t> listed;

    Rows(std::mt19937_64& random, std::int64_t rows, std::int64_t bytes, std::int64_t gap)
        : pitch(bytes + gap) {
        for (std::int64_t k = 0; k < rows; ++k) listed.push_back(k * pitch);
        std::shuffle(listed.begin(), listed.end(), random);
    }
};

class Kernels {
  public:
    explicit Kernels(std::int64_t unit) : unit_(unit) {}

    void check(CpuLevel level, std::int64_t ni, std::int64_t nj, std::int64_t gap) {
        const TileKernels kernels = select_vector_kernels(unit_, level);
        ASSERT_EQ(kernels.even == nullptr, kernels.listed == nullptr);
        ASSERT_EQ(kernels.even == nullptr, kernels.repeated == nullptr);
        if (!kernels.even) return;
        const Rows from(random_, nj, ni * unit_, gap), to(random_, ni, nj * unit_, gap);
        const Bytes source = testing::random_bytes(random_, nj * from.pitch + 64);
        const Bytes guards = testing::random_bytes(random_, ni * to.pitch + 128);
        const std::string of = std::string(cpu_level_name(level)) + ": " + std::to_string(ni) +
                               " x " + std::to_string(nj) + " units of " + std::to_string(unit_) +
                               " bytes, gap " + std::to_string(gap);
        Bytes even = guards, listed = guards, expected_even = guards, expected_listed = guards;
        for (std::int64_t i = 0; i < ni; ++i)
            for (std::int64_t j = 0; j < nj; ++j) {
                const auto at = static_cast<std::size_t>(i), row = static_cast<std::size_t>(j);
                std::memcpy(
                    &expected_even[static_cast<std::size_t>(i * to.pitch + j * unit_ + gap)],
                    &source[static_cast<std::size_t>(j * from.pitch + i * unit_)],
                    static_cast<std::size_t>(unit_));
                std::memcpy(
                    &expected_listed[static_cast<std::size_t>(to.listed[at] + j * unit_ + gap)],
                    &source[static_cast<std::size_t>(from.listed[row] + i * unit_)],
                    static_cast<std::size_t>(unit_));
            }
        kernels.even(source.data(), even.data() + gap,
                     transposed(nj, ni, unit_, from.pitch, to.pitch));
        EXPECT_TRUE(testing::same(even, expected_even)) << of;
        // Tiles of one column, or of one row: the loop makes the same tile of them.
        const Tile tile = transposed(nj, ni, unit_, from.pitch, to.pitch);
        Tile column = tile, row = tile;
        column.ni = 1;
        row.nj = 1;
        Bytes by_columns = guards, by_rows = guards, at_once = guards;
        kernels.repeated(source.data(), by_columns.data() + gap, column, {ni, unit_, to.pitch});
        EXPECT_TRUE(testing::same(by_columns, expected_even)) << of;
        kernels.repeated(source.data(), by_rows.data() + gap, row, {nj, from.pitch, unit_});
        EXPECT_TRUE(testing::same(by_rows, expected_even)) << of;
        // A step back and forth: of two tiles that overlap, both are written.
        const std::int64_t half = (ni + 1) / 2;
        column.ni = half;
        kernels.repeated(source.data(), at_once.data() + gap, column,
                         {2, (ni - half) * unit_, (ni - half) * to.pitch});
        EXPECT_TRUE(testing::same(at_once, expected_even)) << of;
        kernels.listed(source.data(), listed.data() + gap,
                       {.unit = unit_,
                        .ni = ni,
                        .nj = nj,
                        .source_rows = from.listed.data(),
                        .destination_rows = to.listed.data(),
                        .lines = to.pitch % 64 == 0});
        EXPECT_TRUE(testing::same(listed, expected_listed)) << of;
    }

  private:
    std::int64_t unit_;
    std::mt19937_64 random_{9};
};

TEST(Tiles, every_instruction_set_and_shape) {
    for (const std::int64_t unit : {1, 2, 3, 4, 8, 16})
        for (const CpuLevel level : {CpuLevel::portable, CpuLevel::avx2, CpuLevel::avx512}) {
            if (level > cpu_level()) continue;
            Kernels kernels(unit);
            for (std::int64_t ni = 1; ni <= 36; ni += testing::by_watch(1, 5))
                for (std::int64_t nj = 1; nj <= 36; nj += testing::by_watch(1, 5)) {
                    // Also rows that begin at the same place of all their lines.
                    const std::int64_t gap = nj * unit % 64 == 48 ? 16 : ni % 2 * 8;
                    kernels.check(level, ni, nj, gap);
                    if (::testing::Test::HasFailure()) return;
                }
        }
}

}  // namespace
}  // namespace hocket::kernel
