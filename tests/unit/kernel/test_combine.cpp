// SPDX-License-Identifier: BSD-3-Clause
// Elementwise reduction: the corners that NumPy's results in tests/mpi do not reach.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <vector>

#include "hocket/columns.hpp"
#include "hocket/error.hpp"
#include "kernel/combine.hpp"

using hocket::kernel::all_true;
using hocket::kernel::any_true;
using hocket::kernel::combine_of;
using hocket::kernel::Fold;
using hocket::kernel::fold_columns;
using hocket::kernel::NumberKind;

namespace {

template <class T>
T combined(const char* op, const char* dtype, T a, T b) {
    combine_of(op, dtype)(&a, &b, 1);
    return a;
}

TEST(Combine, IntegersWrap) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(combined<std::int64_t>("add", "int64", most, 1), -most - 1);
    EXPECT_EQ(combined<std::int16_t>("mul", "int16", 300, 300), static_cast<std::int16_t>(90000));
    EXPECT_EQ(combined<std::uint16_t>("mul", "uint16", 65535, 65535), 1);
    EXPECT_EQ(combined<std::int8_t>("add", "int8", -128, -1), 127);
}

TEST(Combine, NotANumberWinsOnEitherSide) {
    const double none = std::nan("");
    for (const char* op : {"min", "max"}) {
        EXPECT_TRUE(std::isnan(combined(op, "float64", none, 1.0)));
        EXPECT_TRUE(std::isnan(combined(op, "float64", 1.0, none)));
        EXPECT_EQ(combined(op, "float32", 2.0F, 2.0F), 2.0F);
    }
}

TEST(Combine, TruthAddsAsOrAndMultipliesAsAnd) {
    EXPECT_TRUE(combined("add", "bool", true, true));
    EXPECT_FALSE(combined("mul", "bool", true, false));
    EXPECT_FALSE(combined("min", "bool", true, false));
    EXPECT_TRUE(combined("or", "bool", false, true));
    EXPECT_EQ(combined<std::uint8_t>("and", "uint8", 12, 10), 8);
    EXPECT_EQ(combined<std::int32_t>("or", "int32", 12, 10), 14);
}

TEST(Combine, OfManyElements) {
    std::array<std::complex<float>, 5> a{}, b{};
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = {static_cast<float>(i), 1};
        b[i] = {0, 1};
    }
    combine_of("mul", "complex64")(a.data(), b.data(), 5);
    EXPECT_EQ(a[4], (std::complex<float>{-1, 4}));
    combine_of("add", "complex64")(a.data(), b.data(), 0);
    EXPECT_EQ(a[0], (std::complex<float>{-1, 0}));
}

// Folds columns of rows that are `row_step` and `step` numbers apart, of a matrix with room for
// them; negative: backwards.
template <class T>
void fold_columns_of(std::int64_t rows, std::int64_t columns, std::int64_t row_step,
                     std::int64_t step) {
    using Bits =
        std::make_unsigned_t<std::conditional_t<std::is_floating_point_v<T>, std::int64_t, T>>;
    const std::int64_t width = columns * std::abs(step) + 1;
    std::vector<T> matrix(static_cast<std::size_t>((rows * std::abs(row_step) + 1) * width));
    std::uint64_t bits = 1;
    for (T& value : matrix) {
        bits = bits * 6364136223846793005U + 1442695040888963407U;
        value = std::is_floating_point_v<T> ? static_cast<T>(bits >> 40) - (1 << 23)
                                            : static_cast<T>(bits >> 17);
        if (std::is_floating_point_v<T> && bits % 61 == 0)
            value = static_cast<T>(std::numeric_limits<double>::quiet_NaN());
    }
    const std::int64_t first = (row_step < 0 && rows > 0 ? (rows - 1) * -row_step * width : 0) +
                               (step < 0 ? (columns - 1) * -step : 0);
    for (const Fold fold : {Fold::sum, Fold::least, Fold::greatest}) {
        if (fold == Fold::sum && std::is_floating_point_v<T>) continue;
        std::vector<T> results, expected;
        for (std::int64_t c = 0; c < columns; ++c) results.push_back(static_cast<T>(3 * c + 5));
        for (std::int64_t c = 0; c < columns; ++c) {
            T result = results[static_cast<std::size_t>(c)];
            for (std::int64_t row = 0; row < rows; ++row) {
                const T value =
                    matrix[static_cast<std::size_t>(first + row * row_step * width + c * step)];
                if (fold == Fold::sum)
                    result = static_cast<T>(static_cast<Bits>(
                        std::uint64_t{static_cast<Bits>(result)} + static_cast<Bits>(value)));
                else if (value != value || (fold == Fold::least ? value < result : value > result))
                    result = value;
            }
            expected.push_back(result);
        }
        constexpr auto kind = std::is_floating_point_v<T> ? NumberKind::real
                              : std::is_signed_v<T>       ? NumberKind::integer
                                                          : NumberKind::natural;
        constexpr auto size = static_cast<std::int64_t>(sizeof(T));
        fold_columns(fold, kind, size, results.data(),
                     {matrix.data() + first, rows, columns, size * row_step * width, size * step});
        for (std::size_t c = 0; c < expected.size(); ++c)
            EXPECT_TRUE(results[c] == expected[c] ||
                        (results[c] != results[c] && expected[c] != expected[c]))
                << rows << " x " << columns << " of " << sizeof(T) << ", steps " << row_step
                << " and " << step << ", column " << c;
    }
}

TEST(Combine, FoldsColumns) {
    for (const std::int64_t rows : {0, 1, 7, 8, 9, 25})
        for (const std::int64_t columns : {1, 3, 16, 33})
            for (const auto& [row_step, step] :
                 {std::pair{1, 1}, {1, 2}, {3, 2}, {-1, 3}, {2, -1}}) {
                fold_columns_of<std::int8_t>(rows, columns, row_step, step);
                fold_columns_of<std::uint8_t>(rows, columns, row_step, step);
                fold_columns_of<std::int16_t>(rows, columns, row_step, step);
                fold_columns_of<std::uint16_t>(rows, columns, row_step, step);
                fold_columns_of<std::int32_t>(rows, columns, row_step, step);
                fold_columns_of<std::uint32_t>(rows, columns, row_step, step);
                fold_columns_of<std::int64_t>(rows, columns, row_step, step);
                fold_columns_of<std::uint64_t>(rows, columns, row_step, step);
                fold_columns_of<float>(rows, columns, row_step, step);
                fold_columns_of<double>(rows, columns, row_step, step);
            }
}

TEST(Combine, FindsOneTruthAmongMany) {
    for (const std::int64_t count : {0, 1, 31, 511, 512, 513, 2000}) {
        std::vector<std::uint8_t> all(static_cast<std::size_t>(count), 2), none(all.size(), 0);
        EXPECT_TRUE(all_true(all.data(), count)) << count;
        EXPECT_FALSE(any_true(none.data(), count)) << count;
        for (std::size_t k = 0; k < all.size(); k += 37) {
            all[k] = 0;
            none[k] = 128;
            EXPECT_FALSE(all_true(all.data(), count)) << k << " of " << count;
            EXPECT_TRUE(any_true(none.data(), count)) << k << " of " << count;
            all[k] = 2;
            none[k] = 0;
        }
    }
}

TEST(Combine, WhatThereIsNotIsNamed) {
    for (const auto& [op, dtype] :
         {std::pair{"sum", "int8"}, {"min", "complex64"}, {"and", "float32"}, {"add", "V12"}})
        EXPECT_THROW(combine_of(op, dtype), hocket::Error) << op << " of " << dtype;
}

}  // namespace
