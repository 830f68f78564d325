// SPDX-License-Identifier: BSD-3-Clause
// Exact sums: an oracle of integers, which hold sums of scaled numbers exactly, and the corners.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/exact.hpp"
#include "hocket/random.hpp"

namespace exact = hocket::exact;
using exact::Number;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double sum_of(const std::vector<double>& values) {
    const std::array<std::int64_t, 1> shape{static_cast<std::int64_t>(values.size())}, strides{8};
    double direct = -1;
    exact::sum({.a = values.data(), .shape = shape, .a_strides = strides}, Number::float64,
               &direct);
    // By accumulators, in two parts that are merged.
    const auto words = static_cast<std::size_t>(exact::words(Number::float64, false));
    std::vector<std::int64_t> first(words, 0), second(words, 0);
    const std::array<std::int64_t, 1> half{shape[0] / 2}, rest{shape[0] - half[0]};
    exact::add({.a = values.data(), .shape = half, .a_strides = strides}, first.data());
    exact::add({.a = values.data() + half[0], .shape = rest, .a_strides = strides}, second.data());
    exact::merge(first.data(), second.data(), 1, Number::float64, false);
    double merged = -2;
    exact::round(first.data(), 1, Number::float64, false, Number::float64, &merged);
    EXPECT_TRUE(direct == merged || (std::isnan(direct) && std::isnan(merged)));
    return direct;
}

double dot_of(const std::vector<double>& x, const std::vector<double>& y) {
    const std::array<std::int64_t, 1> shape{static_cast<std::int64_t>(x.size())}, strides{8};
    std::vector<std::int64_t> words(static_cast<std::size_t>(exact::words(Number::float64, true)),
                                    0);
    exact::add(
        {.a = x.data(), .b = y.data(), .shape = shape, .a_strides = strides, .b_strides = strides},
        words.data());
    double found = 0;
    exact::round(words.data(), 1, Number::float64, true, Number::float64, &found);
    return found;
}

TEST(Exact, SumsOfIntegersTimesAPowerOfTwo) {
    std::mt19937_64 random(7);
    for (const int count : {1, 3, 31, 32, 33, 2048, 2049, 5000}) {
        for (const int exponent : {-1074, -500, 0, 900}) {
            std::vector<double> values;
            __int128 exactly = 0;
            for (int k = 0; k < count; ++k) {
                const auto integer = static_cast<std::int64_t>(random()) >> (random() % 40 + 11);
                values.push_back(std::ldexp(static_cast<double>(integer), exponent));
                exactly += integer;
            }
            // Of up to 2^66 the nearest double is that of a long double.
            const auto expected =
                std::ldexp(static_cast<double>(static_cast<long double>(exactly)), exponent);
            EXPECT_EQ(sum_of(values), expected) << count << " " << exponent;
        }
    }
}

// Whole blocks of numbers of one sign, whose sums have the most bits.
template <class T>
void sums_of_whole_blocks(Number number, int bits) {
    std::mt19937_64 random(13);
    for (const std::int64_t count : {4096, 8192, 4095, 12321}) {
        for (const int spread : {0, 1, 20, 36, 60}) {  // of exponents
            std::vector<T> values(static_cast<std::size_t>(count));
            __int128 exactly = 0;
            for (auto& value : values) {
                const auto all = (random() >> (64 - bits)) | (std::uint64_t{1} << (bits - 1));
                const __int128 integer = static_cast<__int128>(all)
                                         << (random() % static_cast<unsigned>(spread + 1));
                value = static_cast<T>(integer);
                exactly += integer;
            }
            const std::array<std::int64_t, 1> shape{count}, strides{sizeof(T)};
            T found = -1;
            exact::sum({.number = number, .a = values.data(), .shape = shape, .a_strides = strides},
                       number, &found);
            EXPECT_EQ(found, static_cast<T>(exactly)) << count << " " << spread;
        }
    }
}

TEST(Exact, SumsOfWholeBlocks) {
    sums_of_whole_blocks<double>(Number::float64, 53);
    sums_of_whole_blocks<float>(Number::float32, 24);
}

TEST(Exact, NumbersThatLieApart) {
    std::mt19937_64 random(17);
    std::normal_distribution<double> normal;
    for (const std::int64_t step : {2, 3, -2})
        for (const std::int64_t count : {1, 2, 7, 8, 9, 16, 17, 2047, 2048, 4099}) {
            // Nothing lies beyond the last number.
            std::vector<double> all(static_cast<std::size_t>((count - 1) * std::abs(step) + 1));
            for (double& each : all) each = normal(random);
            std::vector<double> taken;
            const std::int64_t first = step < 0 ? std::ssize(all) - 1 : 0;
            for (std::int64_t k = 0; k < count; ++k)
                taken.push_back(all[static_cast<std::size_t>(first + k * step)]);
            const std::array<std::int64_t, 1> shape{count}, strides{8 * step};
            double found = -1;
            exact::sum({.a = all.data() + first, .shape = shape, .a_strides = strides},
                       Number::float64, &found);
            EXPECT_EQ(found, sum_of(taken)) << count << " apart by " << step;
        }
}

// Rows and columns of matrices, whose numbers change their size from block to block.
template <class T>
void sums_of_matrices(Number number, int bits) {
    std::mt19937_64 random(11);
    for (const auto& [rows, columns] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 5000},
                                                            {5000, 1},
                                                            {3, 9000},
                                                            {600, 300},
                                                            {2500, 12},
                                                            {300, 8},
                                                            {8, 600},
                                                            {65, 13},
                                                            {1, 1}}) {
        for (const int spread : {0, 4, 60}) {
            std::vector<T> values(static_cast<std::size_t>(rows * columns));
            std::vector<__int128> whole(values.size());
            std::vector<__int128> by_row(static_cast<std::size_t>(rows), 0);
            std::vector<__int128> by_column(static_cast<std::size_t>(columns), 0);
            for (std::int64_t k = 0; k < rows * columns; ++k) {
                // Of one size for long, or each of another.
                const auto size =
                    spread == 4
                        ? (k / 1000) % 60
                        : static_cast<std::int64_t>(random() % static_cast<unsigned>(spread + 1));
                const auto integer = static_cast<std::int64_t>(random()) >> (64 - bits);
                const __int128 value = static_cast<__int128>(integer) << size;
                values[static_cast<std::size_t>(k)] = static_cast<T>(value);
                whole[static_cast<std::size_t>(k)] = value;
                by_row[static_cast<std::size_t>(k / columns)] += value;
                by_column[static_cast<std::size_t>(k % columns)] += value;
            }
            const std::int64_t size = sizeof(T), row = columns * size;
            const std::array<std::int64_t, 2> across{rows, columns}, across_steps{row, size};
            const std::array<std::int64_t, 2> down{columns, rows}, down_steps{size, row};
            const auto compare = [&](const auto& shape, const auto& steps, const auto& expected,
                                     std::size_t kept = 1) {
                std::vector<T> found(expected.size());
                const exact::Terms terms{.number = number,
                                         .a = values.data(),
                                         .shape = shape,
                                         .a_strides = steps,
                                         .kept = kept};
                exact::sum(terms, number, found.data());
                const auto each = static_cast<std::size_t>(exact::words(number, false));
                std::vector<std::int64_t> words(each * expected.size(), 0);
                exact::add(terms, words.data());
                std::vector<T> added(expected.size());
                exact::round(words.data(), static_cast<std::int64_t>(expected.size()), number,
                             false, number, added.data());
                for (std::size_t k = 0; k < expected.size(); ++k) {
                    EXPECT_EQ(found[k], static_cast<T>(expected[k])) << rows << " " << columns;
                    EXPECT_EQ(added[k], static_cast<T>(expected[k])) << rows << " " << columns;
                }
            };
            compare(across, across_steps, by_row);
            compare(down, down_steps, by_column);
            if (columns % 2 != 0) continue;
            // As of complex numbers: two parts of each row, and of the whole matrix.
            std::vector<__int128> by_part(2 * by_row.size(), 0), of_all(2, 0);
            for (std::int64_t k = 0; k < rows * columns; ++k) {
                const auto part = static_cast<std::size_t>(k % 2);
                by_part[static_cast<std::size_t>(k / columns) * 2 + part] +=
                    whole[static_cast<std::size_t>(k)];
                of_all[part] += whole[static_cast<std::size_t>(k)];
            }
            compare(std::array{rows, std::int64_t{2}, columns / 2}, std::array{row, size, 2 * size},
                    by_part, 2);
            compare(std::array{std::int64_t{2}, rows, columns / 2}, std::array{size, row, 2 * size},
                    of_all);
            compare(std::array{std::int64_t{2}, rows * columns / 2}, std::array{size, 2 * size},
                    of_all);
        }
    }
}

TEST(Exact, SumsOfRowsAndColumns) {
    sums_of_matrices<double>(Number::float64, 53);
    sums_of_matrices<float>(Number::float32, 24);
}

// Of one sign and the same size, but larger than the numbers from which the size is guessed: up to
// 8 times as large, the first guess suffices.
template <class T>
void sums_of_columns_that_grow(Number number, T large) {
    constexpr std::int64_t rows = 5000, columns = 32;
    std::vector<T> values(rows * columns, large);
    std::fill_n(values.begin(), 16 * columns, std::copysign(T{1}, large));
    const std::array<std::int64_t, 2> shape{columns, rows};
    const std::array<std::int64_t, 2> strides{sizeof(T), columns * std::int64_t{sizeof(T)}};
    std::array<double, columns> sums{};
    exact::sum(
        {.number = number, .a = values.data(), .shape = shape, .a_strides = strides, .kept = 1},
        Number::float64, sums.data());
    const __int128 unit = std::int64_t{1} << 52;
    const auto integer = static_cast<__int128>(static_cast<double>(large) * 0x1p52);
    const auto expected =
        static_cast<double>((large < 0 ? -16 : 16) * unit + (rows - 16) * integer) * 0x1p-52;
    for (const double sum : sums) EXPECT_EQ(sum, expected);
}

TEST(Exact, SumsOfColumnsThatGrow) {
    for (const int sign : {1, -1})
        for (const int size : {1, 4, 8, 1024}) {
            const int large = size * sign;
            sums_of_columns_that_grow<double>(Number::float64, large * 1.9999999999999998);
            sums_of_columns_that_grow<double>(Number::float64, large * 2.0);
            sums_of_columns_that_grow<float>(Number::float32,
                                             static_cast<float>(large) * 1.9999999F);
        }
}

TEST(Exact, PairsOfNumbersAreTheSums) {
    constexpr std::int64_t rows = 3000, columns = 32;
    std::vector<double> values(rows * columns);
    for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = static_cast<double>(k * 7919 % 1000003) * 0x1p-40 + 1;
    const std::array<std::int64_t, 2> shape{columns, rows};
    const std::array<std::int64_t, 2> strides{8, columns * 8};
    const exact::Terms terms{.a = values.data(), .shape = shape, .a_strides = strides, .kept = 1};
    std::vector<double> sums(columns), pairs(2 * columns);
    exact::sum(terms, Number::float64, sums.data());
    EXPECT_TRUE(exact::pairs(terms, pairs.data()));
    for (std::size_t k = 0; k < columns; ++k) EXPECT_EQ(pairs[2 * k] + pairs[2 * k + 1], sums[k]);
    for (std::size_t k = 0; k < values.size(); ++k)  // with fewer and fewer bits in common
        values[k] = std::ldexp(values[k], -static_cast<int>(k / columns % 40));
    exact::sum(terms, Number::float64, sums.data());
    EXPECT_TRUE(exact::pairs(terms, pairs.data()));
    for (std::size_t k = 0; k < columns; ++k) EXPECT_EQ(pairs[2 * k] + pairs[2 * k + 1], sums[k]);
    values[3] = 0x1p-500;  // with the others' bits, more than two numbers have
    EXPECT_FALSE(exact::pairs(terms, pairs.data()));
    values[3] = infinity;
    EXPECT_FALSE(exact::pairs(terms, pairs.data()));
    const std::array<std::int64_t, 2> none{columns, 0};
    EXPECT_TRUE(exact::pairs({.a = values.data(), .shape = none, .a_strides = strides, .kept = 1},
                             pairs.data()));
    EXPECT_EQ(pairs[0] + pairs[1], 0);
}

TEST(Exact, Corners) {
    constexpr double most = std::numeric_limits<double>::max();
    constexpr double least = std::numeric_limits<double>::denorm_min();
    EXPECT_EQ(sum_of({}), 0);
    EXPECT_EQ(sum_of({most, most, -most, -most, least}), least);
    EXPECT_EQ(sum_of({most, most}), infinity);
    EXPECT_EQ(sum_of({1, 0x1p-53, least}), 1 + 0x1p-52);  // above the middle
    EXPECT_EQ(sum_of({1, 0x1p-53}), 1);                   // a tie goes to even
    EXPECT_EQ(sum_of({1 + 0x1p-52, 0x1p-53}), 1 + 0x1p-51);
    EXPECT_EQ(sum_of({infinity, 1}), infinity);
    EXPECT_TRUE(std::isnan(sum_of({infinity, -infinity})));
    EXPECT_TRUE(std::isnan(sum_of({0, std::numeric_limits<double>::quiet_NaN()})));
    EXPECT_FALSE(std::signbit(sum_of({-0.0, -0.0})));
}

// The blocks are finite, and two numbers have each of them; only their last sum overflows.
TEST(Exact, PairsThatOverflowAreNone) {
    const std::vector<double> block(4096, 0x1.8p999);
    for (const std::int64_t blocks : {5461, 5462, 5463}) {
        const std::array<std::int64_t, 2> shape{blocks, 4096}, strides{0, 8};
        const exact::Terms terms{.a = block.data(), .shape = shape, .a_strides = strides};
        std::array<double, 2> both{};
        double sum = 0;
        exact::sum(terms, Number::float64, &sum);
        EXPECT_EQ(exact::pairs(terms, both.data()), std::isfinite(sum)) << blocks;
        if (std::isfinite(sum)) {
            EXPECT_EQ(both[0] + both[1], sum);
        }
    }
}

TEST(Exact, ProductsThatOverflowAndUnderflowOnTheWay) {
    EXPECT_EQ(dot_of({1e300, 1e300, 3}, {1e300, -1e300, 4}), 12);
    EXPECT_EQ(dot_of({0x1p-600, 0x1p-1000}, {0x1p-600, 0x1p-1000}), 0);
    std::vector<double> tiny(64, 0x1p-540), ones(64, 0x1p-540);
    EXPECT_EQ(dot_of(tiny, ones), 0x1p-1074);  // 64 of 2^-1080
    EXPECT_TRUE(std::isnan(dot_of({0}, {infinity})));
    // One product of a block underflows: 1 + 2^-52 is left.
    std::vector<double> x(64, 1), y(64, 1);
    std::fill(y.begin() + 32, y.end(), -1);
    x[0] = 2;
    x[1] = 0x1p-27;
    y[1] = 0x1p-26;
    x[33] = y[33] = 0x1p-600;
    EXPECT_EQ(dot_of(x, y), 1 + 0x1p-52);
}

// Dense blocks and strided ones, also crossed as the imaginary part of complex products is.
template <class T>
void dot_products_of_integers(Number number, int bits) {
    std::mt19937_64 random(17);
    for (const std::int64_t count : {2, 64, 600, 4096, 12322}) {
        for (const int spread : {0, 3, 5}) {  // of exponents; the sums have 128 bits
            for (const std::int64_t step : {1, 3}) {
                std::vector<T> x(static_cast<std::size_t>(count * step)), y(x.size());
                __int128 sum = 0, crossed = 0;
                std::vector<__int128> a, b;
                for (std::int64_t k = 0; k < count; ++k)
                    for (auto* const each : {&x, &y}) {
                        const auto size = random() % static_cast<unsigned>(spread + 1);
                        const auto integer = static_cast<std::int64_t>(random()) >> (64 - bits);
                        // One product of the second of three blocks is 0.
                        const __int128 value =
                            k == 4999 ? 0 : static_cast<__int128>(integer) << size;
                        (*each)[static_cast<std::size_t>(k * step)] = static_cast<T>(value);
                        (each == &x ? a : b).push_back(value);
                    }
                for (std::size_t k = 0; k < a.size(); ++k) {
                    sum += a[k] * b[k];
                    crossed += (k % 2 == 0 ? a[k] : -a[k]) * b[k ^ 1];
                }
                const std::array<std::int64_t, 1> shape{count};
                const std::array<std::int64_t, 1> strides{step * std::int64_t{sizeof(T)}};
                for (const bool cross : {false, true}) {
                    const auto each = static_cast<std::size_t>(exact::words(number, true));
                    std::vector<std::int64_t> words(each, 0);
                    exact::add({.number = number,
                                .a = x.data(),
                                .b = y.data(),
                                .shape = shape,
                                .a_strides = strides,
                                .b_strides = strides,
                                .crossed = cross},
                               words.data());
                    double found = 0;
                    exact::round(words.data(), 1, number, true, Number::float64, &found);
                    EXPECT_EQ(found, static_cast<double>(cross ? crossed : sum))
                        << count << " " << spread << " " << step << " " << cross;
                }
            }
        }
    }
}

TEST(Exact, DotProductsOfIntegers) {
    dot_products_of_integers<double>(Number::float64, 52);
    dot_products_of_integers<float>(Number::float32, 24);
}

// Blocks of products of one sign, with as many bits as there can be, and one product after the
// other: the accumulators are equal, not only the rounded sums.
TEST(Exact, ProductsOfAnySizes) {
    std::mt19937_64 random(19);
    const auto words = static_cast<std::size_t>(exact::words(Number::float64, true));
    const std::array<std::int64_t, 1> one{1}, strides{8};
    for (const std::int64_t count : {64, 4096, 4999}) {
        for (const int spread : {0, 8, 15, 16, 17, 34, 36, 37, 60}) {  // of each factor's exponents
            std::vector<double> x, y;
            for (std::int64_t k = 0; k < count; ++k)
                for (auto* const each : {&x, &y}) {
                    const auto size =
                        static_cast<int>(random() % static_cast<unsigned>(spread + 1));
                    each->push_back(std::ldexp(2 - std::ldexp(random() % 4, -52), -size));
                }
            const auto add = [&](std::int64_t first, std::span<const std::int64_t> shape,
                                 std::vector<std::int64_t>& sums) {
                exact::add({.a = x.data() + first,
                            .b = y.data() + first,
                            .shape = shape,
                            .a_strides = strides,
                            .b_strides = strides},
                           sums.data());
            };
            std::vector<std::int64_t> together(words, 0), apart(words, 0);
            add(0, std::array<std::int64_t, 1>{count}, together);
            for (std::int64_t k = 0; k < count; ++k) add(k, one, apart);
            EXPECT_EQ(together, apart) << count << " " << spread;
        }
    }
}

TEST(Exact, ProductsOfWholeBlocksThatUnderflowOverflowOrAreNone) {
    std::vector<double> x(4096, 0), y(4096, 0x1p-540);
    for (std::size_t k = 0; k < 64; ++k) x[k] = 0x1p-540;
    EXPECT_EQ(dot_of(x, y), 0x1p-1074);  // 64 of 2^-1080, which is 0, among zeros
    x[4000] = 0x1p540;
    EXPECT_EQ(dot_of(x, y), 1);
    std::fill(x.begin(), x.begin() + 64, 0x1p-486);  // products whose errors would underflow
    std::fill(y.begin(), y.begin() + 64, (1 + 0x1p-52) * 0x1p-536);
    x[4000] = -0x1p-476;
    EXPECT_EQ(dot_of(x, y), 0x1p-1068);  // 64 (2^-1022 + 2^-1074) - 2^-1016
    std::fill(y.begin(), y.begin() + 64, 1 + 0x1p-52);
    std::fill(x.begin(), x.begin() + 64, 1 - 0x1p-53);
    std::fill(x.begin() + 32, x.begin() + 64, -1);
    x[4000] = -0x1p540;
    y[4001] = x[4001] = 0;
    EXPECT_EQ(dot_of(x, y), -1 - 0x1p-48);  // - 2^-100
    x[4001] = 0x1p1000, y[4001] = 0x1p100;
    x[4002] = -0x1p1000, y[4002] = 0x1p100;
    EXPECT_EQ(dot_of(x, y), -1 - 0x1p-48);
    y[4002] = 0x1p101;
    EXPECT_EQ(dot_of(x, y), -infinity);
    x[4003] = infinity, y[4003] = 1;
    EXPECT_EQ(dot_of(x, y), infinity);
    y[4003] = 0;
    EXPECT_TRUE(std::isnan(dot_of(x, y)));
}

TEST(Exact, ColumnsAndSmallerNumbers) {
    std::vector<float> values(600 * 5);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = k % 5 == 0 ? 16777216.F : 1.F;
    const std::array<std::int64_t, 2> shape{5, 600}, strides{4, 20};
    std::array<float, 5> sums{};
    exact::sum({.number = Number::float32,
                .a = values.data(),
                .shape = shape,
                .a_strides = strides,
                .kept = 1},
               Number::float32, sums.data());
    EXPECT_EQ(sums[0], 600 * 16777216.F);
    EXPECT_EQ(sums[4], 600.F);
    const std::array<std::uint16_t, 3> halves{0x3c00, 0x0001, 0x7bff};  // 1, 2^-24, 65504
    const std::array<std::int64_t, 1> three{3}, two{2};
    double wide = 0;
    exact::sum({.number = Number::float16, .a = halves.data(), .shape = three, .a_strides = two},
               Number::float64, &wide);
    EXPECT_EQ(wide, 65505 + 0x1p-24);
}

TEST(Philox, KnownAnswers) {
    // The paper's own test vector for a counter and a key of zeros.
    const std::array<std::int64_t, 1> zero{0};
    std::array<std::uint64_t, 2> words{};
    hocket::philox(0, zero, words);
    EXPECT_EQ(static_cast<std::uint32_t>(words[0]), 0x6627e8d5U);
    EXPECT_EQ(words[0] >> 32, 0xe169c58dU);
    EXPECT_EQ(static_cast<std::uint32_t>(words[1]), 0xbc57ac4cU);
    EXPECT_EQ(words[1] >> 32, 0x9b00dbd8U);
    EXPECT_THROW(hocket::philox(0, zero, std::span(words).first(1)), hocket::Error);
}

}  // namespace
