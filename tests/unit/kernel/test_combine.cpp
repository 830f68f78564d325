// SPDX-License-Identifier: BSD-3-Clause
// Elementwise reduction: the corners that NumPy's results in tests/mpi do not reach.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

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

TEST(Combine, WhatThereIsNotIsNamed) {
    for (const auto& [op, dtype] :
         {std::pair{"sum", "int8"}, {"min", "complex64"}, {"and", "float32"}, {"add", "V12"}})
        EXPECT_THROW(combine_of(op, dtype), hocket::Error) << op << " of " << dtype;
}

}  // namespace
