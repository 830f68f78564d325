// SPDX-License-Identifier: BSD-3-Clause
// Elementwise reduction: the corners that NumPy's results in tests/mpi do not reach.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "hocket/columns.hpp"
#include "hocket/error.hpp"
#include "kernel/combine.hpp"

using hocket::kernel::combine_of;

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

template <class T>
void add_columns_of(std::int64_t rows, std::int64_t columns) {
    using Bits = std::make_unsigned_t<T>;
    std::vector<T> matrix(static_cast<std::size_t>(rows * columns)), sums;
    for (std::int64_t c = 0; c < columns; ++c) sums.push_back(static_cast<T>(3 * c - 5));
    std::vector<T> expected = sums;
    std::uint64_t bits = 1;
    for (std::int64_t k = 0; k < rows * columns; ++k) {
        bits = bits * 6364136223846793005U + 1442695040888963407U;
        const auto value = static_cast<T>(bits >> 17);
        matrix[static_cast<std::size_t>(k)] = value;
        T& sum = expected[static_cast<std::size_t>(k % columns)];
        sum = static_cast<T>(
            static_cast<Bits>(std::uint64_t{static_cast<Bits>(sum)} + static_cast<Bits>(value)));
    }
    hocket::kernel::add_columns(sums.data(), matrix.data(), rows, columns, sizeof(T));
    EXPECT_EQ(sums, expected) << rows << " x " << columns << " of " << sizeof(T);
}

TEST(Combine, AddsColumnsOfIntegers) {
    for (const std::int64_t rows : {0, 1, 7, 8, 9, 25})
        for (const std::int64_t columns : {1, 3, 16, 33}) {
            add_columns_of<std::int8_t>(rows, columns);
            add_columns_of<std::uint16_t>(rows, columns);
            add_columns_of<std::int32_t>(rows, columns);
            add_columns_of<std::uint64_t>(rows, columns);
        }
}

TEST(Combine, WhatThereIsNotIsNamed) {
    for (const auto& [op, dtype] :
         {std::pair{"sum", "int8"}, {"min", "complex64"}, {"and", "float32"}, {"add", "V12"}})
        EXPECT_THROW(combine_of(op, dtype), hocket::Error) << op << " of " << dtype;
}

}  // namespace
